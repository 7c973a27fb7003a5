import { writeFile } from 'node:fs/promises';
import { cpus, release } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { AddonHost, addonsAreMissing } from '../../tests/addons/addon-host.ts';
import { median } from '../measure/statistics.ts';
import { Results, table } from '../report/table.ts';
import { measureIdle, measureOne, rowNames } from './measures.ts';

const usage = `usage: node bench/addons/main.ts [--quick] [--rounds N] [--idle-seconds N] [--json FILE]

Measures add-ons of a whole Sheaf beside the same Helm with the same chart by hand, in turns. It must be root.`;

const { values: options } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    rounds: { type: 'string' },
    'idle-seconds': { type: 'string' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
if (options.help || addonsAreMissing !== undefined) {
  console.error(options.help ? usage : addonsAreMissing);
  process.exit(options.help ? 0 : 2);
}

const rounds = Number(options.rounds ?? (options.quick ? 1 : 9));
const idleSeconds = Number(options['idle-seconds'] ?? (options.quick ? 3 : 60));
const results = new Results();
await AddonHost.run(async (host) => {
  console.error(`[bench] one after the other, ${rounds} rounds`);
  await measureOne(host, { results, rounds });
  console.error(`[bench] idle, twice ${idleSeconds} s`);
  await measureIdle(host, { results, idleSeconds });
});
report();
await writeJson();

function report(): void {
  console.log(`\n${cpus().length} processors, medians of ${rounds} rounds`);
  console.log('peer: Helm by hand; subject: the add-on\n');
  console.log(table(results.rows()));
  const enabling = results.rows().find(({ name }) => name === rowNames.enable);
  const ratio = median(enabling?.values.subject ?? []) / median(enabling?.values.peer ?? []);
  console.log(`\n${rowNames.enable}: ${ratio.toFixed(2)} times; aim 1.3: ${ratio <= 1.3 ? 'met' : 'missed'}`);
}

async function writeJson(): Promise<void> {
  const date = new Date().toISOString();
  const stamp = date.slice(0, 19).replaceAll(/[^0-9]/g, '');
  const file = options.json ?? fileURLToPath(new URL(`../results/addons-${stamp}.json`, import.meta.url));
  const machine = {
    processors: cpus().length,
    model: cpus()[0]?.model ?? '',
    kernel: release(),
    node: process.version,
  };
  const document = { date, rounds, idleSeconds, machine, rows: results.rows() };
  await writeFile(file, `${JSON.stringify(document, undefined, 2)}\n`);
  console.log(`\nfigures of every round: ${file}`);
}

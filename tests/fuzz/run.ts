import { parseArgs } from 'node:util';
import { fuzz } from './fuzz.ts';

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '100000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
  },
});
const seed = Number(values.seed);
const started = performance.now();
const result = await fuzz({ seed, requests: Number(values.requests) });
const counts = [...result.statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status}: ${count}`);
process.stdout.write(
  `seed ${seed}, ${values.requests} requests in ${Math.round((performance.now() - started) / 1000)} s; ${counts.join(', ')}; slowest ${Math.round(result.slowestMs)} ms\n`,
);
for (const failure of result.failures.slice(0, 20)) process.stdout.write(`${failure}\n`);
process.stdout.write(`${result.failures.length} answered with a fault of the server\n`);
process.exitCode = result.failures.length === 0 ? 0 : 1;

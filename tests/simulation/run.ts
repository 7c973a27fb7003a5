/**
 * `npm run simulate -- [--subject NAME] --schedules N [--seed S] [--workers W]`: runs the control plane, or another subject, under N
 * random schedules of users and faults, S being the seed of the first. `--replay S` runs one of them again and prints each of its
 * steps. `--plant FAULT` puts a fault in, to see that it is found.
 */
import { parseArgs } from 'node:util';
import { runSchedules } from './pool.ts';
import { runSchedule, subjectNamed } from './subjects.ts';

const { values } = parseArgs({
  options: {
    subject: { type: 'string', default: 'control-plane' },
    schedules: { type: 'string', default: '1000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string' },
    replay: { type: 'string' },
    plant: { type: 'string' },
  },
});
const progressMs = 30_000;
const subject = subjectNamed(values.subject);
const planted = values.plant === undefined ? [] : [values.plant];
process.exitCode =
  values.replay === undefined
    ? await runMany(Number(values.schedules), Number(values.seed))
    : await replay(Number(values.replay));

async function runMany(schedules: number, seed: number): Promise<number> {
  const begun = performance.now();
  let told = begun;
  let done = 0;
  const result = await runSchedules({
    subject,
    schedules,
    seed,
    planted,
    ...(values.workers ? { workers: Number(values.workers) } : {}),
    onReport(report) {
      done++;
      if (report.complaints.length > 0)
        console.log(`seed ${report.seed}: ${report.complaints.join('; ')}\n  ${replayOf(report.seed)}`);
      if (performance.now() - told < progressMs) return;
      told = performance.now();
      console.log(progress(done, schedules, told - begun));
    },
  });
  console.log(
    `${result.schedules} schedules, ${result.steps} steps, ${minutes(begun)}, ${result.failed.length} with findings`,
  );
  return result.failed.length > 0 ? 1 : 0;
}

function replayOf(seed: number): string {
  const plant = values.plant ? ` --plant ${values.plant}` : '';
  return `npm run -s simulate -- --subject ${subject} --replay ${seed}${plant}`;
}

function progress(done: number, schedules: number, elapsedMs: number): string {
  const perMs = done / elapsedMs;
  const leftMinutes = Math.ceil((schedules - done) / perMs / 60_000);
  return `${done} of ${schedules}, ${Math.round(perMs * 1000)} a second, about ${leftMinutes} min left`;
}

async function replay(seed: number): Promise<number> {
  const { trace, complaints, fingerprint } = await runSchedule(subject, { seed, planted, keepsTrace: true });
  for (const line of trace) console.log(line);
  console.log(`fingerprint ${fingerprint}`);
  for (const complaint of complaints) console.log(`found: ${complaint}`);
  return complaints.length > 0 ? 1 : 0;
}

function minutes(begun: number): string {
  return `${((performance.now() - begun) / 60_000).toFixed(1)} min`;
}

import { parentPort, workerData } from 'node:worker_threads';
import { runSchedule, type SubjectName } from './subjects.ts';

/** What a worker is asked to do: every `stride`th seed from `first`, `count` of them. */
export interface WorkerTask {
  readonly subject: SubjectName;
  readonly first: number;
  readonly stride: number;
  readonly count: number;
  readonly planted: readonly string[];
}

/** What it tells, once for each schedule. */
export interface WorkerReport {
  readonly seed: number;
  readonly steps: number;
  readonly complaints: readonly string[];
}

// Refusals and broken connections are the daily business of a simulation; their stacks tell nothing.
Error.stackTraceLimit = 0;
/** What nobody has waited for and has failed: the program would have ended with it. */
const strays: string[] = [];
process.on('unhandledRejection', (error) => strays.push(`nobody took care of: ${String(error)}`));
const { subject, first, stride, count, planted } = workerData as WorkerTask;
for (let index = 0; index < count; index++) {
  const seed = first + index * stride;
  const { steps, complaints } = await run(seed);
  parentPort?.postMessage({ seed, steps, complaints } satisfies WorkerReport);
}

/** An error that nobody expects is a finding too. */
async function run(seed: number): Promise<{ steps: number; complaints: readonly string[] }> {
  try {
    const { steps, complaints } = await runSchedule(subject, { seed, planted });
    // Rejections are told of in the next turn of the loop.
    await new Promise((resolve) => setImmediate(resolve));
    return { steps, complaints: [...complaints, ...strays.splice(0)] };
  } catch (error) {
    return { steps: 0, complaints: [`the schedule failed: ${String(error)}`] };
  }
}

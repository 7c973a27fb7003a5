import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { SubjectName } from './subjects.ts';
import type { WorkerReport, WorkerTask } from './worker.ts';

export interface PoolOptions {
  readonly subject: SubjectName;
  readonly schedules: number;
  /** The first seed; the others follow. */
  readonly seed: number;
  readonly planted?: readonly string[];
  readonly workers?: number;
  readonly onReport?: (report: WorkerReport) => void;
}

export interface PoolResult {
  readonly schedules: number;
  readonly steps: number;
  readonly failed: readonly WorkerReport[];
}

/** A schedule makes much that nobody needs after it; with more room there is less to be sorted out. */
const maxYoungGenerationSizeMb = 192;

/** Runs many schedules on all processors. */
export async function runSchedules(options: PoolOptions): Promise<PoolResult> {
  const { subject, schedules, seed, planted = [], onReport } = options;
  const workers = Math.min(schedules, options.workers ?? availableParallelism());
  const failed: WorkerReport[] = [];
  let steps = 0;
  let done = 0;
  const take = (report: WorkerReport): void => {
    done++;
    steps += report.steps;
    if (report.complaints.length > 0) failed.push(report);
    onReport?.(report);
  };
  await Promise.all(
    Array.from({ length: workers }, (_, index) => {
      const count = Math.ceil((schedules - index) / workers);
      return runWorker({ subject, first: seed + index, stride: workers, count, planted }, take);
    }),
  );
  failed.sort((a, b) => a.seed - b.seed);
  return { schedules: done, steps, failed };
}

function runWorker(task: WorkerTask, take: (report: WorkerReport) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: task,
      resourceLimits: { maxYoungGenerationSizeMb },
    });
    let done = 0;
    worker.on('message', (report: WorkerReport) => {
      done++;
      take(report);
    });
    worker.on('error', reject);
    worker.on('exit', (code) => {
      const seed = task.first + done * task.stride;
      if (code === 0) resolve();
      else reject(new Error(`a worker ended with ${code} while it ran seed ${seed}`));
    });
  });
}

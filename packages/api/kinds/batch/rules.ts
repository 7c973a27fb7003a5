import type { KindRules } from '../kind-rules.ts';
import { cronJobRules } from './cron-job.ts';
import { jobRules } from './job.ts';

export const batchRules: Readonly<Record<string, KindRules>> = {
  'batch/Job': jobRules,
  'batch/CronJob': cronJobRules,
};

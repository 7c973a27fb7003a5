import { podTemplateWarnings } from '../core/pod-warnings.ts';
import { ensureAt, ensureSpec, fieldsAt, fill, fillText, specOf } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { validateCronJob, validateCronJobUpdate } from './cron-job-validation.ts';
import { defaultJobSpec } from './job.ts';

export const cronJobRules: KindRules = {
  tracksGeneration: true,
  applyDefaults(cronJob) {
    const spec = ensureSpec(cronJob);
    fillText(spec, 'concurrencyPolicy', 'Allow');
    fill(spec, 'suspend', false);
    fill(spec, 'successfulJobsHistoryLimit', 3);
    fill(spec, 'failedJobsHistoryLimit', 1);
    defaultJobSpec(ensureAt(ensureAt(spec, 'jobTemplate'), 'spec'));
  },
  validateCreate: validateCronJob,
  validateUpdate: validateCronJobUpdate,
  warnings: (next, old) =>
    old === undefined
      ? podTemplateWarnings(fieldsAt(fieldsAt(specOf(next), 'jobTemplate'), 'spec'), 'spec.jobTemplate.spec')
      : [],
};

import { type JsonObject, jsonEqual } from '@sheaf/base';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { defaultTemplate } from '../core/pod-defaults.ts';
import { podTemplateWarnings } from '../core/pod-warnings.ts';
import {
  ensureAt,
  ensureSpec,
  fieldsAt,
  fill,
  fillText,
  listAt,
  mapAt,
  numberAt,
  objectAt,
  specOf,
} from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { validateJob, validateJobUpdate } from './job-validation.ts';

export const jobRules: KindRules = {
  tracksGeneration: true,
  defaultPropagation: 'Orphan',
  applyDefaults: defaultJob,
  prepareForCreate(job) {
    // Those that it has from its template follow it.
    const isCopied = jsonEqual(job.metadata.labels ?? {}, templateLabels(job));
    generateSelector(job);
    if (isCopied) job.metadata.labels = { ...templateLabels(job) };
  },
  validateCreate: validateJob,
  validateUpdate: validateJobUpdate,
  selectableFields: (job) => ({
    'status.successful': String(numberAt(fieldsAt(asJson(job), 'status'), 'succeeded') ?? 0),
  }),
  warnings: (next, old) => (old === undefined ? podTemplateWarnings(specOf(next), 'spec') : []),
};

function defaultJob(job: KubeObject): void {
  const spec = ensureSpec(job);
  copyTemplateLabels(job);
  defaultJobSpec(spec);
  fill(spec, 'completionMode', 'NonIndexed');
  fill(spec, 'suspend', false);
  fill(spec, 'podReplacementPolicy', objectAt(spec, 'podFailurePolicy') ? 'Failed' : 'TerminatingOrFailed');
  fill(spec, 'manualSelector', false);
  if (spec['completions'] === undefined && spec['parallelism'] === undefined) spec['completions'] = 1;
  fill(spec, 'parallelism', 1);
  fill(spec, 'backoffLimit', spec['backoffLimitPerIndex'] === undefined ? 6 : 2147483647);
}

/** What is filled in in jobs and in the templates of CronJobs alike. */
export function defaultJobSpec(spec: JsonObject): void {
  defaultTemplate(spec);
  for (const rule of listAt(fieldsAt(spec, 'podFailurePolicy'), 'rules')) {
    for (const pattern of listAt(rule, 'onPodConditions')) fillText(pattern, 'status', 'True');
  }
}

/** A job without labels has those of its pods. */
function copyTemplateLabels(job: KubeObject): void {
  const labels = templateLabels(job);
  const own = job.metadata.labels;
  if (Object.keys(labels).length > 0 && (own === undefined || Object.keys(own).length === 0))
    job.metadata.labels = { ...labels };
}

function templateLabels(job: KubeObject): Record<string, string> {
  return mapAt(fieldsAt(fieldsAt(specOf(job), 'template'), 'metadata'), 'labels');
}

/** Pods of a job carry its uid; without it two jobs of one template would share pods. */
function generateSelector(job: KubeObject): void {
  const spec = ensureSpec(job);
  if (spec['manualSelector'] === true) return;
  const { name = '', uid = '' } = job.metadata;
  const labels = ensureAt(ensureAt(ensureAt(spec, 'template'), 'metadata'), 'labels');
  fill(labels, 'job-name', name);
  fill(labels, 'batch.kubernetes.io/job-name', name);
  fill(labels, 'controller-uid', uid);
  fill(labels, 'batch.kubernetes.io/controller-uid', uid);
  fill(ensureAt(ensureAt(spec, 'selector'), 'matchLabels'), 'batch.kubernetes.io/controller-uid', uid);
}

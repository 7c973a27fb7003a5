import type { KubeObject, LabelSelector } from '@sheaf/api';
import {
  ageCell,
  type CellSources,
  type Conditions,
  countOf,
  isAbsent,
  isConditionTrue,
  nameOf,
  or,
  partsOf,
  shaped,
} from './cell-source.ts';
import { humanDuration } from './human-duration.ts';
import { labelsCell, selectorCell, selectorText } from './label-cells.ts';
import { ageOf } from './name-and-age.ts';

interface Template {
  readonly metadata?: { readonly labels?: Record<string, string> };
  readonly spec?: {
    readonly containers?: readonly { readonly name?: string; readonly image?: string }[] | null;
    readonly nodeSelector?: Record<string, string>;
  };
}

interface Workload {
  readonly spec?: {
    readonly replicas?: number;
    readonly selector?: LabelSelector;
    readonly template?: Template;
  };
  readonly status?: Readonly<Record<string, number | undefined>>;
}

interface ReplicationController {
  readonly spec?: { readonly selector?: Record<string, string> };
}

interface Job {
  readonly spec?: {
    readonly completions?: number | null;
    readonly parallelism?: number;
    readonly selector?: LabelSelector;
    readonly template?: Template;
  };
  readonly status?: {
    readonly succeeded?: number;
    readonly startTime?: string;
    readonly completionTime?: string;
    readonly conditions?: Conditions;
  };
}

interface CronJob {
  readonly spec?: {
    readonly schedule?: string;
    readonly timeZone?: string | null;
    readonly suspend?: boolean | null;
    readonly jobTemplate?: Job;
  };
  readonly status?: {
    readonly active?: readonly unknown[] | null;
    readonly lastScheduleTime?: string | null;
  };
}

interface Revision {
  readonly revision?: number;
}

interface DisruptionBudget {
  readonly spec?: {
    readonly minAvailable?: number | string | null;
    readonly maxUnavailable?: number | string | null;
  };
  readonly status?: { readonly disruptionsAllowed?: number };
}

/** Names and images of a template's containers. */
function containerCells(template: Template | null | undefined): readonly [names: string, images: string] {
  const containers = template?.spec?.containers ?? [];
  return [
    containers.map(({ name }) => or(name, '')).join(','),
    containers.map(({ image }) => or(image, '')).join(','),
  ];
}

function jobStatus(job: Job, object: KubeObject): string {
  const is = (type: string): boolean => isConditionTrue(job.status?.conditions, type);
  if (is('Complete')) return 'Complete';
  if (is('Failed')) return 'Failed';
  if (object.metadata.deletionTimestamp) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(is) ?? 'Running';
}

function completionsCell({ spec, status }: Job): string {
  const succeeded = or(status?.succeeded, 0);
  if (!isAbsent(spec?.completions)) return `${succeeded}/${spec.completions}`;
  const parallelism = or(spec?.parallelism, 0);
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
}

function durationCell({ status }: Job, now: number): string {
  if (!status?.startTime) return '';
  const end = status.completionTime ? Date.parse(status.completionTime) : now;
  return humanDuration(end - Date.parse(status.startTime));
}

function controllerCell(object: KubeObject): string {
  const owner = object.metadata.ownerReferences?.find((reference) => reference.controller);
  if (!owner) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const kind = slash < 0 ? owner.kind : `${owner.kind}.${owner.apiVersion.slice(0, slash)}`;
  return `${kind.toLowerCase()}/${owner.name}`;
}

export const workloadCells: CellSources = {
  PodTemplate: (object) => {
    const { template } = shaped<{ readonly template?: Template }>(object);
    return [nameOf(object), ...containerCells(template), labelsCell(template?.metadata?.labels)];
  },
  ReplicationController: (object, now) => {
    const { spec, status } = partsOf<Workload>(object);
    const { spec: own } = shaped<ReplicationController>(object);
    return [
      nameOf(object),
      or(spec.replicas, 0),
      or(status['replicas'], 0),
      or(status['readyReplicas'], 0),
      ageCell(object, now),
      ...containerCells(spec.template),
      labelsCell(own?.selector),
    ];
  },
  'apps/ReplicaSet': (object, now) => {
    const { spec, status } = partsOf<Workload>(object);
    return [
      nameOf(object),
      or(spec.replicas, 0),
      or(status['replicas'], 0),
      or(status['readyReplicas'], 0),
      ageCell(object, now),
      ...containerCells(spec.template),
      selectorCell(spec.selector),
    ];
  },
  'apps/Deployment': (object, now) => {
    const { spec, status } = partsOf<Workload>(object);
    return [
      nameOf(object),
      `${or(status['readyReplicas'], 0)}/${or(spec.replicas, 0)}`,
      or(status['updatedReplicas'], 0),
      or(status['availableReplicas'], 0),
      ageCell(object, now),
      ...containerCells(spec.template),
      selectorText(spec.selector, '<invalid>'),
    ];
  },
  'apps/StatefulSet': (object, now) => {
    const { spec, status } = partsOf<Workload>(object);
    return [
      nameOf(object),
      `${or(status['readyReplicas'], 0)}/${or(spec.replicas, 0)}`,
      ageCell(object, now),
      ...containerCells(spec.template),
    ];
  },
  'apps/DaemonSet': (object, now) => {
    const { spec, status } = partsOf<Workload>(object);
    return [
      nameOf(object),
      or(status['desiredNumberScheduled'], 0),
      or(status['currentNumberScheduled'], 0),
      or(status['numberReady'], 0),
      or(status['updatedNumberScheduled'], 0),
      or(status['numberAvailable'], 0),
      labelsCell(spec.template?.spec?.nodeSelector),
      ageCell(object, now),
      ...containerCells(spec.template),
      selectorCell(spec.selector),
    ];
  },
  'apps/ControllerRevision': (object, now) => {
    const { revision } = shaped<Revision>(object);
    return [nameOf(object), controllerCell(object), or(revision, 0), ageCell(object, now)];
  },
  'batch/Job': (object, now) => {
    const job = shaped<Job>(object);
    return [
      nameOf(object),
      jobStatus(job, object),
      completionsCell(job),
      durationCell(job, now),
      ageCell(object, now),
      ...containerCells(job.spec?.template),
      selectorCell(job.spec?.selector),
    ];
  },
  'batch/CronJob': (object, now) => {
    const { spec, status } = partsOf<CronJob>(object);
    const suspend = spec.suspend;
    return [
      nameOf(object),
      or(spec.schedule, ''),
      or(spec.timeZone, '<none>'),
      isAbsent(suspend) ? '<unset>' : suspend ? 'True' : 'False',
      countOf(status.active),
      status.lastScheduleTime ? ageOf(status.lastScheduleTime, now) : '<none>',
      ageCell(object, now),
      ...containerCells(spec.jobTemplate?.spec?.template),
      selectorCell(spec.jobTemplate?.spec?.selector),
    ];
  },
  'policy/PodDisruptionBudget': (object, now) => {
    const { spec, status } = partsOf<DisruptionBudget>(object);
    return [
      nameOf(object),
      `${or(spec.minAvailable, 'N/A')}`,
      `${or(spec.maxUnavailable, 'N/A')}`,
      or(status.disruptionsAllowed, 0),
      ageCell(object, now),
    ];
  },
};

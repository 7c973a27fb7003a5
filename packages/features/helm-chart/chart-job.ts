import { hash as digestOf } from 'node:crypto';
import type { KubeObject } from '@sheaf/api';
import { chartOperation, operationAnnotation, retryAnnotation } from '@sheaf/api/addon/index';
import type { HelmChart, HelmChartConfig } from '@sheaf/api/virtualization/index';
import type { Job, PodTemplateSpec } from '@sheaf/api/workload/index';
import { helmImage, helmUserId } from '@sheaf/ports';
import { mountsOf } from './chart-mounts.ts';
import { chartLabel, hashAnnotation, namesOf } from './chart-names.ts';
import { argumentsOf, variablesOf } from './chart-order.ts';
import { referencesOf, valuesData } from './chart-values.ts';

export type OperationKind = 'install' | 'delete';

export interface OperationFacts {
  readonly chart: HelmChart;
  readonly config: HelmChartConfig | undefined;
  /** What the chart refers to, by `KIND/NAME`. */
  readonly referred: ReadonlyMap<string, KubeObject>;
}

/** As many tries as the original makes. */
const usualTries = 1000;
const graceSeconds = 60;

/** The Job of an operation, with the hash of everything that it works with. */
export function operationJob(facts: OperationFacts, kind: OperationKind): Job {
  const { chart } = facts;
  const names = namesOf(chart);
  const template = templateOf(facts, kind);
  const backoffLimit = chart.spec?.backOffLimit ?? usualTries;
  const hash = `SHA256=${hashOf([template, backoffLimit, ...workedWith(facts, kind)])}`;
  const labels = { [chartLabel]: names.name };
  return {
    metadata: {
      namespace: names.namespace,
      name: kind === 'install' ? names.installJob : names.deleteJob,
      labels,
      annotations: { [operationAnnotation]: chartOperation(chart) },
      ownerReferences: [ownerReference(chart)],
    },
    spec: { backoffLimit, template: withHash(template, hash) },
  };
}

export function ownerReference({ metadata }: HelmChart): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly controller: true;
} {
  const { name = '', uid = '' } = metadata;
  return { apiVersion: 'helm.cattle.io/v1', kind: 'HelmChart', name, uid, controller: true };
}

export function jobHash({ spec }: Job): string | undefined {
  return spec.template.metadata?.annotations?.[hashAnnotation];
}

/** Texts and foreign objects whose change makes another operation. */
function workedWith({ chart, config, referred }: OperationFacts, kind: OperationKind): readonly unknown[] {
  const retry = chart.metadata.annotations?.[retryAnnotation] ?? '';
  if (kind === 'delete') return [retry];
  const foreign = referencesOf(chart, config)
    .filter(({ isOptional }) => !isOptional)
    .map(({ kind: of, name, keys }) => {
      const data = (referred.get(`${of}/${name}`)?.['data'] ?? {}) as Readonly<Record<string, unknown>>;
      return Object.entries(data)
        .filter(([key]) => keys.length === 0 || keys.includes(key))
        .toSorted(([a], [b]) => (a < b ? -1 : 1));
    });
  return [retry, valuesData(chart, config), chart.spec?.chartContent ?? '', foreign];
}

function hashOf(parts: readonly unknown[]): string {
  return digestOf('sha256', JSON.stringify(parts)).toUpperCase();
}

/** The hash goes with the order, too: the program writes it on the release, and knows again what it has deployed. */
function withHash(template: PodTemplateSpec, hash: string): PodTemplateSpec {
  const [helm, ...rest] = template.spec.containers;
  return {
    ...template,
    metadata: { ...template.metadata, annotations: { [hashAnnotation]: hash } },
    spec: {
      ...template.spec,
      containers: [
        ...(helm ? [{ ...helm, env: [...(helm.env ?? []), { name: 'CONFIG_HASH', value: hash }] }] : []),
        ...rest,
      ],
    },
  };
}

function templateOf(facts: OperationFacts, kind: OperationKind): PodTemplateSpec {
  const { spec = {} } = facts.chart;
  const { name, account } = namesOf(facts.chart);
  const mounted = kind === 'install' ? mountsOf(facts.chart, facts.config) : [];
  const own = { fsGroup: helmUserId, runAsUser: helmUserId, runAsGroup: helmUserId };
  return {
    metadata: { labels: { [chartLabel]: name } },
    spec: {
      restartPolicy: 'OnFailure',
      serviceAccountName: account,
      priorityClassName: 'system-cluster-critical',
      terminationGracePeriodSeconds: graceSeconds,
      // The host's Helm is a process of the host, and has no other network.
      ...(spec.bootstrap || !spec.jobImage ? { hostNetwork: true } : {}),
      securityContext: {
        ...own,
        ...spec.podSecurityContext,
      },
      ...(spec.bootstrap ? { tolerations: [{ operator: 'Exists' }] } : {}),
      containers: [
        {
          name: 'helm',
          image: spec.jobImage || helmImage,
          imagePullPolicy: 'IfNotPresent',
          args: [...argumentsOf(facts.chart, facts.config, kind)],
          env: [...variablesOf(facts.chart, facts.config)],
          terminationMessagePolicy: 'FallbackToLogsOnError',
          ...(spec.securityContext && { securityContext: spec.securityContext }),
          volumeMounts: mounted.map(({ volume, mountPath }) => ({
            name: volume.name,
            mountPath,
            readOnly: true,
          })),
        },
      ],
      volumes: mounted.map(({ volume }) => volume),
    },
  };
}

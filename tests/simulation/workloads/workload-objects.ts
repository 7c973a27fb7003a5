import type { KubeObject } from '@sheaf/api';
import type { PodTemplateSpec } from '@sheaf/api/workload/index';
import type { Random } from '@sheaf/base';

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** It is on every node. */
export const presentImage = 'localhost/test/guest:1';
/** A registry has it. */
export const remoteImage = 'registry.example/test/guest:1';
/** Nobody has it: a template with it never runs. */
export const missingImage = 'registry.example/test/missing:1';

const appLabel = 'app';

/** Makes what users ask for; chance decides what it is like. */
export class WorkloadObjects {
  readonly #random: Random;
  readonly #sizes: readonly number[];

  /** `sizes`: how many replicas there may be, one as often as another. */
  constructor(random: Random, sizes: readonly number[]) {
    this.#random = random;
    this.#sizes = sizes;
  }

  deployment(place: Place): KubeObject {
    return {
      metadata: place,
      spec: {
        replicas: this.size(),
        ...this.#selection(place),
        ...this.#patience(),
        progressDeadlineSeconds: 60 + this.#below(200),
        revisionHistoryLimit: this.#below(3),
        strategy: this.strategy(),
      },
    };
  }

  size(): number {
    return this.#pick(this.#sizes);
  }

  strategy(): object {
    if (this.#below(4) === 0) return { type: 'Recreate', rollingUpdate: null };
    const maxSurge = this.#pick([0, 1, 2, '25%', '50%']);
    const maxUnavailable = maxSurge === 0 ? 1 : this.#pick([0, 1, '25%', '50%']);
    return { type: 'RollingUpdate', rollingUpdate: { maxSurge, maxUnavailable } };
  }

  replicaSet(place: Place): KubeObject {
    const spec = { replicas: this.size(), ...this.#selection(place), ...this.#patience() };
    return { metadata: place, spec };
  }

  statefulSet(place: Place): KubeObject {
    const keeps = place.name === 'db' ? 'Retain' : 'Delete';
    const claim = {
      metadata: { name: 'data' },
      spec: {
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        resources: { requests: { storage: '1Mi' } },
      },
    };
    return {
      metadata: place,
      spec: {
        replicas: this.size(),
        serviceName: place.name,
        ...this.#selection(place),
        ...this.#patience(),
        ...(this.#below(3) === 0 && { podManagementPolicy: 'Parallel' }),
        ...(this.#below(4) === 0 && { ordinals: { start: 1 } }),
        ...(this.#below(3) > 0 && { volumeClaimTemplates: [claim] }),
        persistentVolumeClaimRetentionPolicy: { whenDeleted: keeps, whenScaled: keeps },
        updateStrategy: this.statefulStrategy(),
      },
    };
  }

  statefulStrategy(): object {
    if (this.#below(6) === 0) return { type: 'OnDelete', rollingUpdate: null };
    return { type: 'RollingUpdate', rollingUpdate: { partition: this.#pick([0, 0, 0, 1]) } };
  }

  daemonSet(place: Place): KubeObject {
    return {
      metadata: place,
      spec: { ...this.#selection(place), ...this.#patience(), updateStrategy: this.daemonStrategy() },
    };
  }

  daemonStrategy(): object {
    if (this.#below(6) === 0) return { type: 'OnDelete', rollingUpdate: null };
    const isSurging = this.#below(3) === 0;
    const amounts = isSurging ? { maxSurge: 1, maxUnavailable: 0 } : { maxSurge: 0, maxUnavailable: 1 };
    return { type: 'RollingUpdate', rollingUpdate: amounts };
  }

  job(place: Place): KubeObject {
    return { metadata: place, spec: this.#work() };
  }

  cronJob(place: Place): KubeObject {
    return {
      metadata: place,
      spec: {
        schedule: this.#pick(['* * * * *', '*/2 * * * *']),
        concurrencyPolicy: this.#pick(['Allow', 'Forbid', 'Replace']),
        successfulJobsHistoryLimit: this.#below(2),
        failedJobsHistoryLimit: this.#below(2),
        jobTemplate: {
          spec: { ...this.#work(), parallelism: 1, completions: 1, completionMode: 'NonIndexed' },
        },
      },
    };
  }

  /** Of pods that serve until they are told to end. */
  template(name: string): PodTemplateSpec {
    const probe = { tcpSocket: { port: 80 }, periodSeconds: 5, failureThreshold: this.#pick([1, 2]) };
    const isProbed = this.#below(3) === 0;
    const image = this.#pick([
      presentImage,
      presentImage,
      presentImage,
      presentImage,
      remoteImage,
      missingImage,
    ]);
    return {
      metadata: { labels: { [appLabel]: name } },
      spec: {
        terminationGracePeriodSeconds: this.#pick([1, 5, 30]),
        containers: [
          {
            name: 'main',
            image,
            imagePullPolicy: image === presentImage ? 'Never' : 'IfNotPresent',
            args: this.#below(6) === 0 ? ['deaf', 'stay'] : ['stay'],
            env: [{ name: 'VERSION', value: String(this.#below(3)) }],
            ...(isProbed && { readinessProbe: probe }),
          },
        ],
      },
    };
  }

  #work(): object {
    const isIndexed = this.#below(3) === 0;
    const completions = 1 + this.#below(4);
    return {
      parallelism: this.#below(4),
      completions,
      ...(isIndexed && { completionMode: 'Indexed' }),
      ...(isIndexed && this.#below(2) === 0 && { backoffLimitPerIndex: this.#below(2) }),
      backoffLimit: this.#below(3),
      ...(this.#below(8) === 0 && { activeDeadlineSeconds: 30 + this.#below(200) }),
      ...(this.#below(6) === 0 && { ttlSecondsAfterFinished: this.#below(100) }),
      ...(this.#below(3) === 0 && { podReplacementPolicy: 'Failed' }),
      ...(this.#below(6) === 0 && { suspend: true }),
      template: {
        metadata: {},
        spec: {
          restartPolicy: this.#pick(['Never', 'Never', 'OnFailure']),
          terminationGracePeriodSeconds: this.#pick([1, 5]),
          containers: [
            {
              name: 'main',
              image: presentImage,
              imagePullPolicy: 'Never',
              args: this.#pick([['stay'], ['stay'], ['exit 0'], ['exit 1']]),
            },
          ],
        },
      },
    };
  }

  #selection({ name }: Place): object {
    return { selector: { matchLabels: { [appLabel]: name } }, template: this.template(name) };
  }

  #patience(): object {
    return this.#below(4) === 0 ? { minReadySeconds: 5 } : {};
  }

  #below(limit: number): number {
    return this.#random.integer(limit);
  }

  #pick<T>(items: readonly T[]): T {
    return items[this.#below(items.length)] as T;
  }
}

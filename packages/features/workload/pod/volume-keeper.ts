import { identityOf } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import { claimNameOf, type Pod } from '@sheaf/api/workload/index';
import { StatusError, toError } from '@sheaf/base';
import type { PodVolume, PodVolumes } from '@sheaf/ports';
import type { AccountTokens } from './account-tokens.ts';
import type { PodData } from './pod-content.ts';
import { type ClaimDisk, tokensOf, type VolumeContent } from './volume-files.ts';
import { planVolume } from './volume-plan.ts';

/** The disk behind a claim for a pod, or why it cannot have it now. */
export type FindDisk = (
  claim: { readonly namespace: string; readonly name: string; readonly podUid: string },
  signal: AbortSignal,
) => Promise<ClaimDisk>;

export interface VolumeKeeperOptions {
  readonly volumes: PodVolumes;
  readonly tokens: AccountTokens;
  /** The disk behind a claim of a namespace. */
  readonly diskOf: FindDisk;
}

export interface VolumeFacts {
  readonly pod: Pod;
  readonly data: PodData;
  readonly node: NodeObject | undefined;
  readonly hostAddress: string;
  readonly podAddresses: readonly string[];
}

export type VolumeOutcome =
  /** `renewMs`: a token is to be renewed then. */
  | { readonly state: 'ready'; readonly volumes: readonly PodVolume[]; readonly renewMs: number | undefined }
  | { readonly state: 'waiting'; readonly volumeName: string; readonly message: string };

/** Sees that what a pod mounts is on the host, and up to date. */
export class VolumeKeeper {
  readonly #options: VolumeKeeperOptions;

  constructor(options: VolumeKeeperOptions) {
    this.#options = options;
  }

  async ensure(facts: VolumeFacts, signal: AbortSignal): Promise<VolumeOutcome> {
    const { pod } = facts;
    const renewed = await this.#renewTokens(pod, signal);
    if (typeof renewed === 'string')
      return { state: 'waiting', volumeName: 'kube-api-access', message: renewed };
    const content = await this.#content(facts, signal);
    const volumes: PodVolume[] = [];
    for (const volume of pod.spec.volumes ?? []) {
      const planned = planVolume(pod, volume, content);
      const made = 'problem' in planned ? planned.problem : await this.#make(pod, planned.spec, signal);
      if (typeof made === 'string') return { state: 'waiting', volumeName: volume.name, message: made };
      volumes.push(made);
    }
    return { state: 'ready', volumes, renewMs: renewed };
  }

  /** Resolves to what is wrong, where that is not a defect of ours. */
  async #renewTokens(pod: Pod, signal: AbortSignal): Promise<number | undefined | string> {
    try {
      return await this.#options.tokens.renew(pod, tokensOf(pod), signal);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      return `failed to fetch token: ${error.message}`;
    }
  }

  async #make(
    pod: Pod,
    spec: Parameters<PodVolumes['ensure']>[1],
    signal: AbortSignal,
  ): Promise<PodVolume | string> {
    try {
      return await this.#options.volumes.ensure(identityOf(pod).uid, spec, signal);
    } catch (error) {
      if (!StatusError.is(error)) throw error;
      return toError(error).message;
    }
  }

  async #content(
    { pod, data, node, ...addresses }: VolumeFacts,
    signal: AbortSignal,
  ): Promise<VolumeContent> {
    const { tokens, diskOf } = this.#options;
    const { namespace, uid: podUid } = identityOf(pod);
    const names = (pod.spec.volumes ?? [])
      .map((volume) => claimNameOf(pod, volume))
      .filter((name) => name !== undefined);
    const disks = new Map<string, ClaimDisk>();
    for (const name of new Set(names)) disks.set(name, await diskOf({ namespace, name, podUid }, signal));
    return {
      ...addresses,
      configMap: (name) => data.configMapBytes(name),
      secret: (name) => data.secretBytes(name),
      token: (order) => tokens.find(pod, order),
      disk: (name) => disks.get(name) ?? { problem: `persistentvolumeclaim "${name}" not found` },
      allocatable: node?.status?.allocatable ?? {},
    };
  }
}

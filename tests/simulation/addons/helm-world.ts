import type { Pod, PodStatus } from '@sheaf/api/workload/index';
import type { Random } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { planRelease } from '@sheaf/drivers/helm';
import { helmFailures } from '@sheaf/ports';
import type { Scheduler } from '@sheaf/testkit';
import type { Objects } from '../objects.ts';

interface Order extends Readonly<Parameters<typeof planRelease>[0]> {
  readonly release: string;
  readonly hash: string;
  /** `NAMESPACE/NAME` of its HelmChart. */
  readonly chart: string;
}

interface Release {
  readonly status: string;
  readonly hash: string;
  readonly hasDeployed: boolean;
}

interface Work {
  readonly order: Order;
  readonly podUid: string;
  readonly jobUids: readonly string[];
  /** The release is as it is to be already: nothing is done with it. */
  isIdle: boolean;
}

export interface HelmWorldOptions {
  readonly client: () => Client;
  readonly objects: Objects;
  readonly scheduler: Scheduler;
  readonly random: Random;
}

/** Of so many failures one is a death. */
const cutRarity = 3;

/**
 * The node and its Helm: runs the pods of operations by the rules of the real program, which decides by the same plan. What happens
 * here is not asked of the control plane, and outlives it.
 */
export class HelmWorld {
  readonly releases = new Map<string, Release>();
  /** Of 100 ends of an operation, so many are failures, and some of these a death in the middle of it. */
  failures = 0;
  /** How many of them there are to be at most: from then on all goes well. */
  failuresLeft = 0;
  /** What every operation comes to, if anything: a fault that stays. */
  lasting: number | undefined;
  /** UIDs of Jobs that users have deleted: their controller may have been about to make a pod. */
  readonly excused = new Set<string>();
  /** UIDs of Jobs that came when the program that had asked for them was dead: the next one could not know of them. */
  readonly late = new Set<string>();
  /** Operations of two processes on one release at once. */
  readonly violations: string[] = [];
  readonly #options: HelmWorldOptions;
  /** By the UID of the pod. */
  readonly #works = new Map<string, Work>();

  constructor(options: HelmWorldOptions) {
    this.#options = options;
  }

  /** What was there in another world, which has ended. */
  takeOver(other: HelmWorld): void {
    for (const [name, release] of other.releases) this.releases.set(name, release);
    for (const uid of other.excused) this.excused.add(uid);
    for (const uid of other.late) this.late.add(uid);
    for (const [uid, work] of other.#works) this.#works.set(uid, work);
  }

  get isAtWork(): boolean {
    return this.#works.size > 0;
  }

  /** Something happens to one of the pods, if it can. */
  async happen(): Promise<void> {
    const pods = this.#open();
    const pod = pods[this.#options.random.integer(pods.length)];
    if (pod) await this.#move(pod);
  }

  /** Whatever can go on does. */
  async finishAll(): Promise<void> {
    for (const pod of this.#open()) await this.#move(pod);
  }

  /** A process is killed in the middle of what it does. */
  async kill(): Promise<void> {
    const works = [...this.#works.values()];
    const work = works[this.#options.random.integer(works.length)];
    if (!work) return;
    this.#works.delete(work.podUid);
    const pod = this.#options.objects.get(resources.pods, work.podUid);
    if (pod) await this.#cut(pod, work);
  }

  /** What it did stays half done. */
  #cut(pod: Pod, work: Work): Promise<void> {
    this.#note('killed', work);
    return this.#write(pod, crashed(pod, 137, ''));
  }

  #open(): readonly Pod[] {
    return this.#options.objects.all(resources.pods).filter(({ metadata, status }) => {
      if (metadata.deletionTimestamp !== undefined) return true;
      return status?.phase !== 'Succeeded' && status?.phase !== 'Failed';
    });
  }

  async #move(pod: Pod): Promise<void> {
    const { uid = '' } = pod.metadata;
    const work = this.#works.get(uid);
    if (pod.metadata.deletionTimestamp !== undefined) return this.#end(pod, work);
    if (work) return this.#finish(pod, work);
    return pod.spec.nodeName === undefined ? this.#bind(pod) : this.#begin(pod);
  }

  /** From then on it is the node that lets it go. */
  async #bind({ metadata }: Pod): Promise<void> {
    const { namespace: in_, name } = metadata;
    const target = `/api/v1/namespaces/${in_}/pods/${name}/binding`;
    const binding = { metadata: { name, namespace: in_ }, target: { kind: 'Node', name: 'here' } };
    await this.#quietly((client) =>
      client.raw(target, {
        method: 'POST',
        value: { apiVersion: 'v1', kind: 'Binding', ...binding } as never,
      }),
    );
  }

  async #begin(pod: Pod): Promise<void> {
    const { uid: podUid = '', ownerReferences = [] } = pod.metadata;
    const jobUids = ownerReferences.map(({ uid }) => uid);
    const work: Work = { order: orderOf(pod), podUid, jobUids, isIdle: false };
    const { release } = work.order;
    if (!this.#isWanted(work.order)) return this.#refuseWith(pod, 'OrderOutdated');
    const other = [...this.#works.values()].find(({ order }) => order.release === release);
    if (other) return this.#refuse(pod, work, other);
    this.#note('begins', work);
    this.#works.set(work.podUid, work);
    work.isIdle = this.#touch(work.order) === 'nothing';
    await this.#write(pod, { phase: 'Running', containerStatuses: [container(pod, { running: {} })] });
  }

  /** What an operation that has only begun has done to its release. */
  #touch(order: Order): ReturnType<typeof planRelease> {
    const { release } = order;
    const known = this.releases.get(release);
    const step = planRelease(order, factsOf(known, order));
    if (step === 'upgrade')
      this.releases.set(release, {
        status: known ? 'pending-upgrade' : 'pending-install',
        hash: '',
        hasDeployed: known?.hasDeployed === true,
      });
    else if ((step === 'uninstall' || step === 'clear') && known)
      this.releases.set(release, { ...known, status: 'uninstalling' });
    return step;
  }

  /** The lock of the host holds; that it has to is a mistake, unless somebody has deleted a Job, one has two pods for a moment, or one was late. */
  async #refuse(pod: Pod, work: Work, other: Work): Promise<void> {
    const isExcused = [...work.jobUids, ...other.jobUids].some(
      (uid) => this.excused.has(uid) || this.late.has(uid),
    );
    if (!isExcused && !other.jobUids.some((uid) => work.jobUids.includes(uid)))
      this.violations.push(`two operations on the release ${work.order.release} at once`);
    await this.#refuseWith(pod, 'ReleaseBusy');
  }

  /** It rests; time and again the same would be seen. */
  async #refuseWith(pod: Pod, reason: string): Promise<void> {
    if (!isCrashed(pod)) await this.#write(pod, crashed(pod, exitOf(reason), ''));
  }

  /** Nothing is installed for a chart that is gone, or goes. */
  #isWanted({ kind, chart }: Order): boolean {
    const found = this.#options.objects
      .all(resources.helmCharts)
      .find(({ metadata }) => `${metadata.namespace}/${metadata.name}` === chart);
    return kind === 'delete' || (found !== undefined && found.metadata.deletionTimestamp === undefined);
  }

  async #finish(pod: Pod, work: Work): Promise<void> {
    this.#works.delete(work.podUid);
    const { random } = this.#options;
    const isFailure = this.failuresLeft > 0 && random.integer(100) < this.failures;
    if (isFailure) this.failuresLeft--;
    if (isFailure && random.integer(cutRarity) === 0) return this.#cut(pod, work);
    const code = this.lasting ?? (isFailure ? someExit(random) : 0);
    this.#note(`ends with ${code}`, work);
    if (!work.isIdle) this.#settle(work.order, code);
    await this.#write(
      pod,
      code === 0
        ? { phase: 'Succeeded', containerStatuses: [container(pod, { terminated: { exitCode: 0 } })] }
        : crashed(pod, code, 'these are the last words'),
    );
  }

  #settle({ kind, release, hash }: Order, code: number): void {
    const known = this.releases.get(release);
    if (code !== 0) {
      if (known) this.releases.set(release, { ...known, status: 'failed' });
    } else if (kind === 'delete') this.releases.delete(release);
    else this.releases.set(release, { status: 'deployed', hash, hasDeployed: true });
  }

  /** The agent lets a pod go once its process has ended; what that did stays half done. */
  async #end({ metadata }: Pod, work: Work | undefined): Promise<void> {
    if (work) this.#note('interrupted', work);
    this.#works.delete(metadata.uid ?? '');
    const { namespace: in_ = '', name = '', uid = '' } = metadata;
    await this.#quietly((client) =>
      client.delete(resources.pods, { namespace: in_, name }, { uid, gracePeriodSeconds: 0 }),
    );
  }

  async #write(pod: Pod, status: PodStatus): Promise<void> {
    await this.#quietly((client) => client.updateStatus(resources.pods, { ...pod, status }));
  }

  /** Someone was quicker: the next look shows it. */
  async #quietly(write: (client: Client) => Promise<unknown>): Promise<void> {
    await write(this.#options.client()).catch(() => undefined);
  }

  #note(what: string, { order, podUid }: Work): void {
    this.#options.scheduler.note(`helm: ${order.kind} ${order.release} ${what} (${podUid.slice(0, 8)})`);
  }
}

function orderOf({ spec }: Pod): Order {
  const [helm] = spec.containers;
  const variable = (name: string): string => helm?.env?.find((each) => each.name === name)?.value ?? '';
  return {
    kind: helm?.args?.[0] === 'delete' ? 'delete' : 'install',
    failurePolicy: variable('FAILURE_POLICY') as Order['failurePolicy'],
    release: `${variable('TARGET_NAMESPACE')}/${variable('NAME')}`,
    hash: variable('CONFIG_HASH'),
    chart: `${variable('CHART_NAMESPACE')}/${variable('NAME')}`,
  };
}

function factsOf(release: Release | undefined, { hash }: Order): Parameters<typeof planRelease>[1] {
  return {
    status: release?.status,
    isOfOrder: release?.hash === hash,
    hasDeployed: release?.hasDeployed === true,
    wasCut: false,
  };
}

function exitOf(reason: string): number {
  return helmFailures.find((failure) => failure.reason === reason)?.exitCode ?? 1;
}

function someExit(random: Random): number {
  return helmFailures[random.integer(helmFailures.length)]?.exitCode ?? 1;
}

type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number];

function container({ status }: Pod, state: NonNullable<ContainerStatus['state']>): ContainerStatus {
  const before = status?.containerStatuses?.[0];
  return { restartCount: 0, image: '', imageID: '', ready: false, ...before, name: 'helm', state };
}

function isCrashed({ status }: Pod): boolean {
  return (
    status?.containerStatuses?.some(({ state }) => state?.waiting?.reason === 'CrashLoopBackOff') === true
  );
}

function crashed(pod: Pod, exitCode: number, message: string): PodStatus {
  const status = container(pod, { waiting: { reason: 'CrashLoopBackOff', message: 'back-off' } });
  const lastState = { terminated: { exitCode, message } };
  return {
    phase: 'Running',
    containerStatuses: [{ ...status, lastState, restartCount: status.restartCount + 1 }],
  };
}

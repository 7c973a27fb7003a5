import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import type { Objects } from '../objects.ts';
import { podUidOf } from './events.ts';
import { History } from './history.ts';
import { names } from './kinds.ts';
import type { Users } from './users.ts';
import type { World } from './world.ts';
import { WriteSafety } from './write-safety.ts';

export interface SafetyOptions {
  readonly objects: Objects;
  readonly world: World;
  readonly users: Users;
  readonly isExact: () => boolean;
}

/** What must never be, looked at after each step. */
export class Safety {
  readonly violations: string[] = [];
  readonly history: History;
  readonly writes: WriteSafety;
  readonly #options: SafetyOptions;
  #pods = new Map<string, Pod>();
  #claims = new Set<string>();
  #podList: readonly Pod[] = [];
  #claimList: readonly KubeObject[] = [];
  /** Runs that have begun, and the pods and containers that they are of. */
  readonly #started = new Map<string, object>();
  readonly #runs = new Map<string, number>();
  /** Users take everything away: claims may go with the rest. */
  isClearing = false;

  constructor(options: SafetyOptions) {
    const { objects, isExact } = options;
    this.#options = options;
    this.history = new History(objects);
    this.writes = new WriteSafety({
      objects,
      history: this.history,
      isExact,
      find: (text) => this.#find(text),
    });
  }

  /** Nothing that was asked for is carried out without the knowledge of who asked, so numbers hold. */
  get isExact(): boolean {
    return this.#options.isExact();
  }

  look(): void {
    this.history.look();
    this.#lookAtRuns();
    this.#lookAtPods(this.#options.objects.all(resources.pods));
    this.#lookAtClaims(this.#options.objects.all(resources.persistentVolumeClaims));
  }

  /** No run begins twice, and of a container no two run at once; nor of a pod that has a name of its own. */
  #lookAtRuns(): void {
    const titles = new Map<string, string>();
    for (const { container } of this.#options.world.running()) {
      const { id, title } = container.spec;
      this.#noteStart(id, container);
      const other = titles.get(title);
      if (other !== undefined && !this.#isForced(id) && !this.#isForced(other))
        this.#find(`two runs of ${title} at once: ${other} and ${id}`);
      titles.set(title, id);
    }
  }

  #noteStart(id: string, container: object): void {
    const known = this.#started.get(id);
    if (known === container) return;
    if (known) this.#find(`run ${id} has begun twice`);
    this.#started.set(id, container);
    const run = id.slice(0, id.lastIndexOf('_'));
    const count = (this.#runs.get(run) ?? 0) + 1;
    this.#runs.set(run, count);
    const pod = this.#options.objects.get(resources.pods, podUidOf(id));
    if (count > 1 && pod?.spec.restartPolicy === 'Never')
      this.#find(`${run} has run ${count} times and was never to be restarted`);
  }

  #isForced(id: string): boolean {
    return this.#options.users.forced.has(podUidOf(id));
  }

  /** A pod is not forgotten while its containers run, unless users have asked for that. */
  #lookAtPods(pods: readonly Pod[]): void {
    if (this.#podList === pods) return;
    this.#podList = pods;
    this.writes.notePods();
    const now = new Map(pods.map((pod) => [pod.metadata.uid ?? '', pod]));
    if (now.size !== this.#pods.size || [...this.#pods.keys()].some((uid) => !now.has(uid))) {
      const running = new Set(
        this.#options.world.running().map(({ container }) => podUidOf(container.spec.id)),
      );
      for (const [uid, { metadata }] of this.#pods)
        if (!now.has(uid) && running.has(uid) && !this.#options.users.forced.has(uid))
          this.#find(`pod ${metadata.name} (${uid.slice(0, 8)}) is gone while its containers run`);
    }
    this.#pods = now;
  }

  /** Claims of the first stateful set are never taken away. */
  #lookAtClaims(claims: readonly KubeObject[]): void {
    if (this.#claimList === claims) return;
    this.#claimList = claims;
    const [keeping] = names.statefulSets;
    const now = claims.filter(({ metadata }) => metadata.name?.includes(`-${keeping}-`));
    const uids = new Set(now.map(({ metadata }) => metadata.uid ?? ''));
    if (!this.isClearing)
      for (const uid of this.#claims)
        if (!uids.has(uid)) this.#find(`claim ${uid} is gone, and was to be kept`);
    this.#claims = uids;
  }

  #find(text: string): void {
    if (!this.violations.includes(text)) this.violations.push(text);
  }
}

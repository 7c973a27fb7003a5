/**
 * Kills a whole Sheaf in the middle of rollouts, their undoing, drains, jobs and changes of sets with volumes, and looks each time,
 * once it is back, whether everything comes to its end, nothing runs twice, and nothing runs that nobody asked for; at the end,
 * whether anything is left. `node tests/faults/workloads/kill.ts 20` kills it twenty times; a second argument is the seed.
 */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { resources } from '@sheaf/client';
import { guestArchive } from '@sheaf/testkit/containers/index';
import { SeededRandom } from '@sheaf/testkit/seeded-random';
import { eventually, Installation } from '../../e2e/installation.ts';
import { remainsOf, removeRemains } from '../../workloads/container-remains.ts';
import { guestTag } from '../../workloads/workload-host.ts';
import { findings } from './findings.ts';
import { cronJob, daemonSet, deployment, job, statefulSet } from './scene.ts';

export interface WorkloadKillSummary {
  readonly seed: number;
  readonly kills: number;
  readonly deeds: Readonly<Record<string, number>>;
}

const namespace = 'default';
const longestMs = 3000;

/** @throws Error as soon as a round finds something wrong */
export async function runWorkloadKills(kills: number, seed: number): Promise<WorkloadKillSummary> {
  const sheaf = await Installation.make('kubectl');
  const run = new Run(sheaf, seed);
  try {
    await run.prepare();
    for (let round = 0; round < kills; round++) await run.round(round);
    await run.finish();
    return { seed, kills, deeds: run.deeds };
  } finally {
    await sheaf.stop();
    await removeRemains(sheaf.directory);
    await sheaf.remove();
    await rm(sheaf.directory, { recursive: true, force: true });
  }
}

type Deed = (run: Run, number: number) => Promise<unknown>;

/** All of them in turn; the seed decides the moments. */
const deeds: Readonly<Record<string, Deed>> = {
  drain: ({ sheaf, nodeName }) =>
    sheaf.tryKubectl([
      ...['drain', nodeName, '--ignore-daemonsets', '--delete-emptydir-data'],
      ...['--force', '--timeout=20s'],
    ]),
  rollout: ({ sheaf }, number) => sheaf.apply(deployment(`v${number}`)),
  volumes: ({ sheaf }) => sheaf.tryKubectl(['rollout', 'restart', 'statefulset/db']),
  undo: ({ sheaf }) => sheaf.tryKubectl(['rollout', 'undo', 'deployment/web']),
  job: ({ sheaf }, number) => sheaf.apply(job(`work-${number}`)),
  pods: ({ sheaf }) => sheaf.tryKubectl(['delete', 'pod', '-l', 'app in (web,agent)', '--wait=false']),
  scale: ({ sheaf }, number) => sheaf.apply(statefulSet(number % 2 === 0 ? 1 : 2)),
  cron: ({ sheaf }, number) => sheaf.tryKubectl(['create', 'job', `tick-${number}`, '--from=cronjob/tick']),
};

class Run {
  readonly sheaf: Installation;
  readonly deeds: Record<string, number> = {};
  nodeName = '';
  readonly #random: SeededRandom;

  constructor(sheaf: Installation, seed: number) {
    this.sheaf = sheaf;
    this.#random = new SeededRandom(seed);
  }

  async prepare(): Promise<void> {
    await this.sheaf.start();
    const archive = join(this.sheaf.directory, 'guest.tar');
    await writeFile(archive, await bytesOf(guestArchive(guestTag)));
    const { code, err } = await this.sheaf.sheaf('images', 'import', archive);
    assert.equal(code, 0, err);
    await this.sheaf.apply(deployment('v'), statefulSet(2), daemonSet, cronJob, job('work'));
    await this.#settle();
    const [node] = (await (await this.sheaf.client()).list(resources.nodes)).items;
    this.nodeName = node?.metadata.name ?? '';
  }

  /** One deed, a kill in the middle of it, and what becomes of it. */
  async round(number: number): Promise<void> {
    const names = Object.keys(deeds);
    const name = names[number % names.length] ?? '';
    const deed = deeds[name];
    assert.ok(deed);
    this.deeds[name] = (this.deeds[name] ?? 0) + 1;
    // Sheaf is gone before it has answered all of it.
    const doing = deed(this, number).catch(() => undefined);
    await pause(this.#random.integer(longestMs));
    await this.sheaf.kill();
    await doing;
    await this.sheaf.start();
    await this.sheaf.kubectl(['uncordon', this.nodeName]);
    await this.#settle();
  }

  async finish(): Promise<void> {
    const client = await this.sheaf.client();
    const options = { propagationPolicy: 'Background' } as const;
    for (const resource of [
      resources.cronJobs,
      resources.jobs,
      resources.deployments,
      resources.statefulSets,
      resources.daemonSets,
    ])
      await client.deleteCollection(resource, { namespace }, options);
    let left: readonly string[] = [];
    await eventually(
      async () => {
        const { items } = await client.list(resources.pods, { namespace });
        left = [
          ...items.map(({ metadata }) => `pod ${metadata.name}`),
          ...(await remainsOf(this.sheaf.directory)),
        ];
        return left.length === 0;
      },
      { goal: 'nothing is left of the pods' },
      () => left.join('\n'),
    );
    await client.deleteCollection(resources.persistentVolumeClaims, { namespace }, {});
    await eventually(async () => (await client.list(resources.persistentVolumes)).items.length === 0, {
      goal: 'nothing is left of the volumes',
    });
  }

  async #settle(): Promise<void> {
    const client = await this.sheaf.client();
    let found: readonly string[] = [];
    await eventually(
      async () => {
        found = await findings(client, this.sheaf.directory);
        return found.length === 0;
      },
      { goal: 'everything is as it should be' },
      () => `${found.join('\n')}\n${this.sheaf.log().slice(-4000)}`,
    );
  }
}

async function bytesOf(archive: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of archive) parts.push(part);
  return Buffer.concat(parts);
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const [kills = '20', seed = '1'] = process.argv.slice(2);
  const summary = await runWorkloadKills(Number(kills), Number(seed));
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

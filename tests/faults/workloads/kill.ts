/**
 * Kills a whole Sheaf in the middle of rollouts, their undoing, drains, jobs, changes of sets with volumes and whatever else is in
 * `deeds.ts`, and looks each time, once it is back, whether everything comes to its end, nothing has run twice meanwhile, and
 * nothing runs or lies about that nobody asked for; at the end, whether anything is left.
 * `node tests/faults/workloads/kill.ts 20` kills it twenty times; a second argument is the seed.
 */
import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Client, resources } from '@sheaf/client';
import { guestArchive } from '@sheaf/testkit/containers/index';
import { SeededRandom } from '@sheaf/testkit/seeded-random';
import { eventually, Installation } from '../../e2e/installation.ts';
import { remainsOf, removeRemains } from '../../workloads/container-remains.ts';
import { guestTag } from '../../workloads/workload-host.ts';
import { deeds } from './deeds.ts';
import { failedChecks, statusFindings } from './findings.ts';
import { differencesOn, doublesOn } from './host-findings.ts';
import { provePlants } from './plants.ts';
import { cronJob, daemonSet, deployment, job, statefulSet } from './scene.ts';

export interface WorkloadKillSummary {
  readonly seed: number;
  readonly kills: number;
  readonly deeds: Readonly<Record<string, number>>;
}

const namespace = 'default';
const longestMs = 3000;

/** @throws Error as soon as a round finds something wrong */
export async function runWorkloadKills(
  kills: number,
  seed: number,
  tell: (words: string) => void = () => undefined,
): Promise<WorkloadKillSummary> {
  const sheaf = await Installation.make('kubectl');
  const run = new Run(sheaf, seed, tell);
  try {
    await run.prepare();
    for (let round = 0; round < kills; round++) await run.round(round);
    await provePlants(await sheaf.client(), sheaf.directory);
    await run.finish();
    return { seed, kills, deeds: run.deeds };
  } finally {
    await sheaf.stop();
    await removeRemains(sheaf.directory);
    await sheaf.remove();
    await rm(sheaf.directory, { recursive: true, force: true });
  }
}

class Run {
  readonly sheaf: Installation;
  readonly deeds: Record<string, number> = {};
  nodeName = '';
  readonly #lives = new Map<string, string>();
  readonly #random: SeededRandom;

  readonly #tell: (words: string) => void;

  constructor(sheaf: Installation, seed: number, tell: (words: string) => void) {
    this.sheaf = sheaf;
    this.#tell = tell;
    this.#random = new SeededRandom(seed);
  }

  async prepare(): Promise<void> {
    await this.sheaf.start();
    const archive = join(this.sheaf.directory, 'guest.tar');
    await writeFile(archive, await bytesOf(guestArchive(guestTag)));
    const { code, err } = await this.sheaf.sheaf('images', 'import', archive);
    assert.equal(code, 0, err);
    await this.sheaf.apply(deployment('v'), statefulSet(2), daemonSet, cronJob, job('work'));
    await this.#settle('preparing');
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
    this.#tell(`${number}: ${name}`);
    const place = { sheaf: this.sheaf, nodeName: this.nodeName, number };
    // Sheaf is gone before it has answered all of it.
    const doing = deed.begin(place).catch(() => undefined);
    await pause(this.#random.integer(longestMs));
    await this.sheaf.kill();
    await doing;
    await this.sheaf.start();
    await deed.mend?.(place);
    await this.#settle(name);
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

  /** @throws Error when it does not come to its end, when something runs twice on the way, or when a volume has lost something */
  async #settle(deed: string): Promise<void> {
    const client = await this.sheaf.client();
    let found: readonly string[] = [];
    const tell = (): string => `after ${deed}:\n${found.join('\n')}\n${this.sheaf.log().slice(-4000)}`;
    let doubles: readonly string[] = [];
    await eventually(
      async () => {
        const { items: pods } = await client.list(resources.pods);
        const before = doubles;
        doubles = await doublesOn(this.sheaf.directory);
        // One look tells of moments that follow one another, so that it may see both of what was one after the other.
        const certain = doubles.filter((words) => before.includes(words));
        assert.deepEqual(certain, [], tell());
        found = await statusFindings(client, pods);
        if (found.length > 0) {
          found = [...found, ...(await failedChecks(client))];
          return false;
        }
        found = [...doubles, ...(await differencesOn(this.sheaf.directory, pods))];
        return found.length === 0;
      },
      { goal: 'everything is as it should be' },
      tell,
    );
    await this.#readVolumes(client, deed);
  }

  /** Each life of a pod of the set has written its name, beneath those before it. */
  async #readVolumes(client: Client, deed: string): Promise<void> {
    const { items } = await client.list(resources.pods, { namespace, labelSelector: 'app=db' });
    for (const { metadata, status } of items) {
      if (status?.phase !== 'Running') continue;
      const { name = '' } = metadata;
      const text = await this.sheaf.kubectl(['exec', name, '--', '/bin/sh', '-c', 'cat /data/lives']);
      const before = this.#lives.get(name) ?? '';
      assert.match(text, new RegExp(`^(${name}\\n)+$`), `${deed}: the volume of ${name} is not its own`);
      assert.ok(
        text.startsWith(before),
        `${deed}: the volume of ${name} has lost ${before.length - text.length}`,
      );
      this.#lives.set(name, text);
    }
  }
}

async function bytesOf(archive: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of archive) parts.push(part);
  return Buffer.concat(parts);
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const [kills = '20', seed = '1'] = process.argv.slice(2);
  const summary = await runWorkloadKills(Number(kills), Number(seed), (words) =>
    process.stderr.write(`${words}\n`),
  );
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

/**
 * Kills a whole Sheaf under write load, at random moments, and checks after each restart that every acknowledged write
 * is there, nothing refused has appeared, and a watch client that resumes from its last version has seen every change
 * once. `node tests/faults/server/kill.ts 100` runs a hundred rounds; a second argument is the seed.
 */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { Client, httpTransport, type ResourceRef, readKubeconfig, type Transport } from '@sheaf/client';
import { SeededRandom } from '@sheaf/testkit';
import { type SheafProcess, startSheaf } from '../../sheaf-process.ts';

const configMaps: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};
const namespace = 'default';
const writers = 8;

export interface ServerKillSummary {
  readonly kills: number;
  readonly acknowledged: number;
  readonly watched: number;
}

/** What the writers know: of each object the newest acknowledged value, and the values that may or may not have come through. */
class Ledger {
  readonly acknowledged = new Map<string, string | undefined>();
  /** Sent, and the server was killed before it answered. */
  readonly open = new Map<string, (string | undefined)[]>();
  readonly refused = new Set<string>();
  count = 0;

  acknowledge(name: string, value: string | undefined): void {
    this.acknowledged.set(name, value);
    this.open.delete(name);
    this.count++;
  }

  leaveOpen(name: string, value: string | undefined): void {
    this.open.set(name, [...(this.open.get(name) ?? []), value]);
  }
}

/** @throws AssertionError as soon as a round finds something wrong */
export async function runServerKills(kills: number, seed: number): Promise<ServerKillSummary> {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-server-kill-'));
  const random = new SeededRandom(seed);
  const ledger = new Ledger();
  const watcher = new Watcher();
  try {
    for (let round = 0; round < kills; round++) {
      const sheaf = await startSheaf({ directory });
      const { client, transport } = await connect(sheaf);
      if (round > 0) await check(client, ledger, watcher);
      const watching = watcher.follow(client);
      const writing = Array.from({ length: writers }, (_, id) => write(client, ledger, { id, round }));
      await pause(20 + random.integer(400));
      process.kill(sheaf.pid, 'SIGKILL');
      await Promise.all([...writing, watching]);
      transport.close();
      await sheaf.stop();
    }
    const last = await startSheaf({ directory });
    const { client, transport } = await connect(last);
    await check(client, ledger, watcher);
    transport.close();
    await last.stop();
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  return { kills, acknowledged: ledger.count, watched: watcher.seen };
}

async function connect(sheaf: SheafProcess): Promise<{ client: Client; transport: Transport }> {
  const transport = httpTransport(readKubeconfig(await readFile(sheaf.kubeconfig, 'utf8')));
  return { client: new Client({ transport, userAgent: 'kill' }), transport };
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Creates, changes and deletes its own objects until the server is gone. */
async function write(
  client: Client,
  ledger: Ledger,
  { id, round }: { id: number; round: number },
): Promise<void> {
  for (let step = 0; ; step++) {
    const name = `k-${id}-${step % 5}`;
    const value = `${round}.${id}.${step}`;
    const isThere = ledger.acknowledged.get(name) !== undefined;
    const wanted = isThere && step % 7 === 6 ? undefined : value;
    try {
      await writeOnce(client, name, wanted);
      ledger.acknowledge(name, wanted);
    } catch (error) {
      if (!StatusError.is(error)) return ledger.leaveOpen(name, wanted);
      ledger.refused.add(value);
    }
  }
}

async function writeOnce(client: Client, name: string, value: string | undefined): Promise<void> {
  if (value === undefined) {
    await client.delete(configMaps, { namespace, name });
    return;
  }
  const object: KubeObject = { metadata: { name, namespace }, data: { value } };
  await client.apply(configMaps, object, { fieldManager: 'kill', force: true });
}

async function check(client: Client, ledger: Ledger, watcher: Watcher): Promise<void> {
  const { items, resourceVersion } = await client.list(configMaps, { namespace });
  const found = new Map(items.map((item) => [item.metadata.name ?? '', valueOf(item)]));
  for (const [name, expected] of ledger.acknowledged) {
    const actual = found.get(name);
    const allowed = [expected, ...(ledger.open.get(name) ?? [])];
    assert.ok(
      allowed.includes(actual),
      `${name} is ${actual}; acknowledged was ${expected}, open ${JSON.stringify(ledger.open.get(name) ?? [])}`,
    );
    // From now on what came through is what counts.
    ledger.acknowledged.set(name, actual);
  }
  ledger.open.clear();
  for (const value of found.values())
    assert.ok(value === undefined || !ledger.refused.has(value), `${value} was refused, and is there`);
  await watcher.catchUp(client, Number(resourceVersion));
  assert.deepEqual(
    watcher.state(),
    new Map([...found].filter(([name]) => name.startsWith('k-'))),
    'what the watch has told is not what is there',
  );
}

function valueOf(object: KubeObject): string | undefined {
  return (object['data'] as { value?: string } | undefined)?.value;
}

/** Follows all changes over every restart, always from the last version it has seen. */
class Watcher {
  seen = 0;
  #version = '';
  readonly #state = new Map<string, { value: string | undefined; version: number }>();

  state(): Map<string, string | undefined> {
    return new Map([...this.#state].map(([name, { value }]) => [name, value]));
  }

  /** Until the server is gone. */
  async follow(
    client: Client,
    until?: { readonly version: number; readonly stop: AbortController },
  ): Promise<void> {
    try {
      const start = this.#version === '' ? {} : { resourceVersion: this.#version };
      for await (const { type, object } of client.watch(configMaps, {
        namespace,
        ...start,
        ...(until ? { signal: until.stop.signal } : {}),
      })) {
        this.#take(type, object);
        if (until && Number(this.#version) >= until.version) return;
      }
    } catch (error) {
      // A Status is an answer: the server is there and has lost what it had promised to remember.
      if (StatusError.is(error)) throw error;
    }
  }

  /** Reads what happened since it was cut off, up to a version. */
  async catchUp(client: Client, version: number): Promise<void> {
    if (this.#version === '' || Number(this.#version) >= version) return;
    const stop = new AbortController();
    // Changes of other resources move the version too: silence means that there is no more of ours.
    const timer = setTimeout(() => stop.abort(new Error('caught up')), 1500);
    await this.follow(client, { version, stop });
    clearTimeout(timer);
  }

  #take(type: string, object: KubeObject): void {
    const version = Number(object.metadata.resourceVersion);
    assert.ok(
      version > Number(this.#version || 0) || this.#version === '',
      `version ${version} came after ${this.#version}`,
    );
    this.#version = String(version);
    const name = object.metadata.name ?? '';
    if (type === 'BOOKMARK' || !name.startsWith('k-')) return;
    const known = this.#state.get(name);
    assert.equal(
      type === 'ADDED',
      known === undefined,
      `${type} of ${name}, which ${known ? 'is' : 'is not'} there`,
    );
    if (type === 'DELETED') this.#state.delete(name);
    else this.#state.set(name, { value: valueOf(object), version });
    this.seen++;
  }
}

if (process.argv[1] === import.meta.filename) {
  const [kills = '100', seed = '1'] = process.argv.slice(2);
  process.stdout.write(`${JSON.stringify(await runServerKills(Number(kills), Number(seed)))}\n`);
}

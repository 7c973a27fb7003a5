import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { dockerArchive } from '../../packages/drivers/podman/archive/image-archive.ts';
import { type EngineLayout, engineLayout } from '../../packages/drivers/podman/engine-layout.ts';
import { guestImage } from '../../packages/testkit/containers/guest-image.ts';
import { runProgram } from '../../tests/program.ts';
import { type SheafProcess, startSheaf } from '../../tests/sheaf-process.ts';
import { type Answer, type Connection, connect, type Request } from '../client/connection.ts';
import { readKubeconfig, type Target } from '../client/kubeconfig.ts';
import { guestArguments, guestTag, removeEngine, settingsOf } from './peer.ts';
import { PodWatch } from './pod-watch.ts';

const pods = '/api/v1/namespaces/default/pods';
const launcher = fileURLToPath(new URL('../../scripts/sheaf.sh', import.meta.url));
const pollMs = 2;
const limitMs = 60_000;
const shownLog = 4000;

interface Parts {
  readonly directory: string;
  readonly sheaf: SheafProcess;
  readonly target: Target;
  readonly connection: Connection;
}

/** A whole Sheaf that has the image, one connection to it and a watch of its pods. */
export class PodSubject {
  readonly #parts: Parts;
  readonly #watch: PodWatch;
  #isClosed = false;

  private constructor(parts: Parts, watch: PodWatch) {
    this.#parts = parts;
    this.#watch = watch;
  }

  /** Once it is there, everything up to its close leaves something on the host. */
  static async start(directory: string): Promise<PodSubject> {
    // In a session of its own, so that Ctrl-C ends the bench first, which then ends it in order.
    const sheaf = await startSheaf({ directory, through: ['setsid'] });
    try {
      const target = await readKubeconfig(sheaf.kubeconfig);
      const connection = await connect(target, 'http/1.1');
      const parts = { directory, sheaf, target, connection };
      await prepare(parts);
      return new PodSubject(parts, await PodWatch.open(target, pods));
    } catch (error) {
      await sheaf.stop();
      await removeEngine(directory);
      throw error;
    }
  }

  get pid(): number {
    return this.#parts.sheaf.pid;
  }

  /** Of podman's service, which is there from the first pod on. */
  async servicePid(): Promise<number> {
    const record = await readFile(this.#layout.serviceRecord, 'utf8');
    return Number.parseInt(record, 10);
  }

  /** What its engine was told, without what names its directory. */
  settings(): Promise<string> {
    return settingsOf(this.#layout);
  }

  /** Asked for by several clients at once, until a watch has told that the containers of all of them run. */
  async run(names: readonly string[], clients = 1): Promise<void> {
    if (clients === 1) return await this.#runOver([this.#parts.connection], names);
    // The one that is there may have been idle for too long.
    const connections = await Promise.all(
      Array.from({ length: clients }, () => connect(this.#parts.target, 'http/1.1')),
    );
    await this.#runOver(connections, names);
    for (const connection of connections) connection.close();
  }

  /** Deleted without a time of grace, until neither the API nor the host has it. */
  async remove(name: string): Promise<void> {
    const uid = this.#watch.find(name)?.uid;
    if (uid === undefined) throw new Error(`there is no pod ${name}`);
    await this.#delete(this.#parts.connection, `${pods}/${name}`);
    await this.#watch.until(`${name} is gone`, (seen) => !seen.has(name));
    await this.#untilLeft((file) => file.includes(uid));
  }

  async removeAll(): Promise<void> {
    const connection = await connect(this.#parts.target, 'http/1.1');
    await this.#delete(connection, pods);
    connection.close();
    await this.#watch.until('all pods are gone', (seen) => seen.size === 0);
    await this.#untilLeft((file) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(file));
  }

  /** Takes its pods away, stops it, and takes away what is left nevertheless. */
  async close(): Promise<void> {
    const { directory, sheaf, connection } = this.#parts;
    this.#isClosed = true;
    try {
      connection.close();
      const last = await connect(this.#parts.target, 'http/1.1');
      await last.request(deletion(pods));
      last.close();
      await this.#watch.until('all pods are gone', (seen) => seen.size === 0);
      await this.#untilLeft((file) => /[0-9a-f]{8}-[0-9a-f]{4}-/.test(file));
    } catch (error) {
      console.error(`[bench] pods had to be ended by hand: ${String(error)}`);
    } finally {
      this.#watch.close();
      await sheaf.stop();
      await removeEngine(directory);
    }
  }

  get #layout(): EngineLayout {
    return engineLayout(join(this.#parts.directory, 'podman'));
  }

  async #runOver(connections: readonly Connection[], names: readonly string[]): Promise<void> {
    const asked = connections.map(async (connection, lane) => {
      for (let index = lane; index < names.length && !this.#isClosed; index += connections.length)
        expect(await connection.request(creation(names[index] ?? '')), 201);
    });
    const all = this.#watch.until(`${names.length} pods run`, (seen) =>
      names.every((name) => seen.get(name)?.isRunning === true),
    );
    await Promise.all([...asked, all]);
  }

  async #delete(connection: Connection, path: string): Promise<void> {
    expect(await connection.request(deletion(path)), 200);
  }

  /** Records, logs and volumes of a pod go with the last of it. */
  async #untilLeft(isMeant: (file: string) => boolean): Promise<void> {
    const { directory } = this.#parts;
    const places = [this.#layout.records, this.#layout.logs, join(directory, 'pods')];
    const limit = performance.now() + limitMs;
    for (;;) {
      const names = await Promise.all(places.map((place) => readdir(place).catch(() => [])));
      const left = names.flat().filter(isMeant);
      if (left.length === 0) return;
      if (performance.now() > limit)
        throw new Error(`${left.join(', ')} did not go: ${this.#parts.sheaf.log().slice(-shownLog)}`);
      await delay(pollMs);
    }
  }
}

async function prepare({ directory, sheaf, connection }: Parts): Promise<void> {
  for (const path of ['/readyz', '/api/v1/namespaces/default/serviceaccounts/default'])
    while ((await connection.request({ method: 'GET', path })).status !== 200) await delay(10);
  const archive = join(directory, 'guest.tar');
  await writeFile(archive, dockerArchive([guestImage(guestTag)]));
  const words = ['images', 'import', archive, '--data-dir', directory];
  const env = { SHEAF_NODE: process.execPath };
  const { code, err } = await runProgram('sh', [launcher, ...words], { env });
  if (code !== 0) throw new Error(`sheaf ${words.join(' ')}: ${err}\n${sheaf.log()}`);
  await rm(archive);
}

function creation(name: string): Request {
  const container = { name: 'guest', image: guestTag, imagePullPolicy: 'Never', args: guestArguments };
  const body = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: { containers: [container] },
  };
  return { method: 'POST', path: pods, contentType: 'application/json', body: JSON.stringify(body) };
}

function deletion(path: string): Request {
  const body = JSON.stringify({ gracePeriodSeconds: 0 });
  return { method: 'DELETE', path, contentType: 'application/json', body };
}

function expect({ status, body }: Answer, wanted: number): void {
  if (status !== wanted) throw new Error(`status ${status}, not ${wanted}: ${body.toString().slice(0, 500)}`);
}

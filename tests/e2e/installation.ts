import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isJsonObject, type JsonObject, silentLogger } from '@sheaf/base';
import { Client, httpTransport, readKubeconfig, type Transport } from '@sheaf/client';
import { openQemu } from '@sheaf/drivers/qemu';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { type ProgramResult, runProgram } from '../program.ts';
import { type SheafOptions, type SheafProcess, startSheaf } from '../sheaf-process.ts';

const pollMs = 250;
/** A host with much else to do takes its time. */
const usualLimitMs = 180_000;
const launcher = fileURLToPath(new URL('../../scripts/sheaf.sh', import.meta.url));

export interface WaitOptions {
  /** What is waited for, for the report of a failure. */
  readonly goal: string;
  readonly limitMs?: number;
}

/** A Sheaf with a data directory of its own that is killed and started again, and the kubectl that talks to it. */
export class Installation {
  readonly directory: string;
  readonly #kubectl: string;
  #sheaf: SheafProcess | undefined;
  #transport: Transport | undefined;

  private constructor(directory: string, kubectl: string) {
    this.directory = directory;
    this.#kubectl = kubectl;
  }

  static async make(kubectl: string): Promise<Installation> {
    return new Installation(await mkdtemp(join(tmpdir(), 'sheaf-e2e-')), kubectl);
  }

  get kubeconfig(): string {
    return join(this.directory, 'kubeconfig');
  }

  /** Resolves when it is ready with everything: on a busy host it may serve before it serves machines. */
  async start(options: Omit<SheafOptions, 'directory'> = {}): Promise<SheafProcess> {
    this.#sheaf = await startSheaf({ ...options, directory: this.directory });
    const client = await this.client();
    let said = '';
    await eventually(
      async () => {
        const answer = await client.send({ method: 'GET', target: '/readyz?verbose' });
        said = await answer.text();
        return answer.status === 200;
      },
      { goal: 'Sheaf is ready' },
      () => said,
    );
    return this.#sheaf;
  }

  /** Talks to the Sheaf that runs now, as its administrator; of no use to the next one. */
  async client(): Promise<Client> {
    this.#transport ??= httpTransport(readKubeconfig(await readFile(this.kubeconfig, 'utf8')));
    return new Client({ transport: this.#transport, userAgent: 'e2e' });
  }

  /** At once, as a crash would. */
  async kill(): Promise<void> {
    if (this.#sheaf) process.kill(this.#sheaf.pid, 'SIGKILL');
    await this.stop();
  }

  async stop(): Promise<void> {
    this.#transport?.close();
    this.#transport = undefined;
    await this.#sheaf?.stop();
  }

  log(): string {
    return this.#sheaf?.log() ?? '';
  }

  /** Ends Sheaf and all machines, and removes the directory. */
  async remove(): Promise<void> {
    await this.stop();
    const hypervisor = openQemu({
      directory: join(this.directory, 'machines'),
      clock: systemClock,
      random: systemRandom,
      logger: silentLogger,
      mayWrite: () => Promise.resolve(true),
    });
    const signal = AbortSignal.timeout(30_000);
    for (const { id } of await hypervisor.list(signal)) await hypervisor.end(id, signal);
    hypervisor.dispose();
    // Those of what was another boot for them are strangers to the driver.
    await this.killMachines();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** The ids of the machines' processes that run on the host, whatever Sheaf says. */
  async processes(): Promise<readonly number[]> {
    const root = join(this.directory, 'machines', 'machines');
    const files = (await readdir(root).catch(() => [])).map((machine) =>
      join(root, machine, 'machine.process'),
    );
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
    const ids = texts.map((text) => Number.parseInt(text, 10)).filter((id) => id > 0);
    const alive = await Promise.all(ids.map(isAlive));
    return ids.filter((_, index) => alive[index] === true);
  }

  /** Ends every machine's process as a power cut would. Resolves to how many there were. */
  async killMachines(): Promise<number> {
    const all = await this.processes();
    for (const id of all)
      try {
        process.kill(id, 'SIGKILL');
      } catch (error) {
        // It has just ended by itself.
        if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
      }
    return all.length;
  }

  /** The id of the process of one machine, which must be there. */
  async processOf(machine: string): Promise<number> {
    const path = join(this.directory, 'machines', 'machines', machine, 'machine.process');
    return Number.parseInt(await readFile(path, 'utf8'), 10);
  }

  /** @throws Error with the words of kubectl */
  async kubectl(args: readonly string[], input?: unknown): Promise<string> {
    const { code, out, err } = await this.tryKubectl(args, input);
    if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${err}`);
    return out;
  }

  tryKubectl(args: readonly string[], input?: unknown): Promise<ProgramResult> {
    const env = { KUBECONFIG: this.kubeconfig, HOME: this.directory };
    return runProgram(this.#kubectl, args, {
      env,
      ...(input === undefined ? {} : { input: JSON.stringify(input) }),
    });
  }

  /** `sheaf COMMAND` about this data directory. */
  sheaf(...args: readonly string[]): Promise<ProgramResult> {
    const env = { SHEAF_NODE: process.execPath };
    return runProgram('sh', [launcher, ...args, '--data-dir', this.directory], { env });
  }

  async apply(...objects: readonly object[]): Promise<void> {
    await this.kubectl(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: objects });
  }

  /** `undefined` where it is not there. */
  async find(kind: string, name: string): Promise<JsonObject | undefined> {
    const out = await this.kubectl(['get', kind, name, '-o', 'json', '--ignore-not-found']);
    return out === '' ? undefined : (JSON.parse(out) as JsonObject);
  }

  /** Polls until the claim is true of the object; tells what the object was like otherwise. */
  async until(
    target: readonly [kind: string, name: string],
    claim: (object: JsonObject | undefined) => boolean,
    options: WaitOptions,
  ): Promise<JsonObject | undefined> {
    let object: JsonObject | undefined;
    await eventually(
      async () => {
        object = await this.find(...target);
        return claim(object);
      },
      options,
      () => `${JSON.stringify(object?.['status'] ?? object, undefined, 2)}\n${this.log().slice(-2000)}`,
    );
    return object;
  }
}

/** A process that nobody has waited for yet has ended all the same. */
async function isAlive(processId: number): Promise<boolean> {
  const state = await readFile(`/proc/${processId}/stat`, 'utf8').catch(() => '');
  return /^\d+ \(.*\) [^ZX]/.test(state);
}

/** Polls until the claim is true; the limit bounds the waiting of a test and is nothing that is asserted. */
export async function eventually(
  claim: () => Promise<boolean>,
  { goal, limitMs = usualLimitMs }: WaitOptions,
  tell: () => string = () => '',
): Promise<void> {
  const limit = performance.now() + limitMs;
  while (!(await claim())) {
    if (performance.now() > limit) throw new Error(`${goal}: not in ${limitMs} ms\n${tell()}`);
    await pause(pollMs);
  }
}

/** The value at a path of fields; `undefined` where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const field of path) found = isJsonObject(found) ? found[field] : undefined;
  return found;
}

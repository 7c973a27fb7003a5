import assert from 'node:assert/strict';
import { StatusError } from '@sheaf/base';
import type { ContainerSpec } from './container.ts';
import type { ContainerImage, ContainerImages } from './container-image.ts';
import type { LogSelection } from './container-log.ts';
import type { ContainerProcess, ProcessOrder } from './container-process.ts';
import type { ContainerEnd, ContainerObservation } from './container-state.ts';
import type { Containers } from './containers.ts';
import type { SandboxObservation, SandboxSpec } from './sandbox.ts';

/** A registry that has the guest's image; it ends with its world. */
export interface WorldRegistry {
  readonly reference: string;
  /** PEM of who vouches for it, if it speaks TLS. */
  readonly authority?: string;
}

/** What programs of the host do not have, and images do. */
export type ContainerLack = 'images' | 'namespaces' | 'streams';

/**
 * A host for containers, and what the contract does not offer.
 *
 * Its image has one program, `/guest`, which takes its arguments as steps, one after the other, and ends with 0 after the last one.
 * It ends with 0 on SIGTERM until `deaf`. The steps:
 *
 * - `print TEXT` and `complain TEXT` write a line to the output and to the error output; `flood N` writes N lines of 100 bytes.
 * - `exit N` ends it; `stay` waits for good; `hog` takes memory for good.
 * - `echo` copies its input to its output until the input ends.
 * - `show PATH` prints a file; `append PATH TEXT` adds a line to one, or prints `refused`.
 * - `variable NAME`, `user` (as `UID GID GROUPS`), `host` and `directory` print these; `terminal` prints `yes` or `no`;
 *   `processes` prints how many it sees.
 * - `listen PORT` answers HTTP on the loopback from then on, with the name of its host.
 */
export interface ContainersWorld {
  /** What its containers do not have; the suite does without. */
  readonly without?: ReadonlySet<ContainerLack>;
  /** What its sandboxes must be like. */
  readonly sandbox?: Partial<SandboxSpec>;
  /** A driver on this host; one at a time. */
  open(): { readonly containers: Containers; readonly images: ContainerImages };
  /** The guest's image is stored under this name. */
  readonly guestTag: string;
  /** The image of the guest under another name. */
  archive(kind: 'docker' | 'oci', tag: string): AsyncIterable<Uint8Array>;
  /** One that wants a login, or sends nothing after a part of each layer. */
  openRegistry(options: {
    readonly login?: { readonly username: string; readonly password: string };
    readonly isTls?: boolean;
    readonly isStalling?: boolean;
  }): Promise<WorldRegistry>;
  /** A new directory of the host, of its own for each name. */
  makeDirectory(name: string): Promise<string>;
  writeFile(path: string, text: string): Promise<void>;
  makeLink(path: string, target: string): Promise<void>;
  readFile(path: string): Promise<string>;
  pass(milliseconds: number): Promise<void>;
  kill(processId: number): Promise<void>;
  /** Ends all processes at once; drivers opened from now on find another boot. The one that was open is disposed. */
  restartHost(): Promise<void>;
  /** Names of all that is kept or runs for sandboxes and containers: files, processes, devices, mounts, rules. */
  traces(): Promise<readonly string[]>;
}

/** Bounds the waiting of a test; nothing that is asserted. */
const patienceMs = 60_000;
const stepMs = 20;
const text = new TextDecoder();

/** A world with its driver open. */
export class ContainersScene {
  readonly world: ContainersWorld;
  containers: Containers;
  images: ContainerImages;
  readonly signal = new AbortController().signal;
  #guestId: string | undefined;

  constructor(world: ContainersWorld) {
    this.world = world;
    ({ containers: this.containers, images: this.images } = world.open());
  }

  has(ability: ContainerLack): boolean {
    return this.world.without?.has(ability) !== true;
  }

  /** The control process dies, and another one begins. */
  reopen(): void {
    this.containers.dispose();
    ({ containers: this.containers, images: this.images } = this.world.open());
  }

  async restartHost(): Promise<void> {
    await this.world.restartHost();
    ({ containers: this.containers, images: this.images } = this.world.open());
  }

  async guestImage(): Promise<ContainerImage> {
    const image = await this.images.find(this.world.guestTag, this.signal);
    assert.ok(image, 'the image of the guest is stored');
    return image;
  }

  sandboxSpec(id: string, changes: Partial<SandboxSpec> = {}): SandboxSpec {
    return {
      id,
      title: `default/${id}`,
      labels: { app: 'test', 'example.org/pod': id },
      hostname: id,
      network: { kind: 'pod', hostPorts: [] },
      processes: 'container',
      sharedMemory: 'sandbox',
      ...this.world.sandbox,
      ...changes,
    };
  }

  async spec(
    id: string,
    steps: readonly string[],
    changes: Partial<ContainerSpec> = {},
  ): Promise<ContainerSpec> {
    this.#guestId ??= (await this.guestImage()).id;
    return {
      id,
      sandboxId: 'pod',
      title: `default/pod/${id}`,
      labels: { 'example.org/container': id },
      imageId: this.#guestId,
      arguments: steps,
      environment: {},
      mounts: [],
      resources: {},
      security: {},
      hasInput: false,
      hasTerminal: false,
      ...changes,
    };
  }

  async sandbox(id = 'pod', changes: Partial<SandboxSpec> = {}): Promise<SandboxObservation> {
    const seen = await this.containers.startSandbox(this.sandboxSpec(id, changes), this.signal);
    assert.equal(seen.state, 'ready');
    return seen;
  }

  /** Starts a container in the sandbox `pod`. */
  async start(
    id: string,
    steps: readonly string[],
    changes: Partial<ContainerSpec> = {},
  ): Promise<ContainerObservation> {
    return await this.containers.startContainer(await this.spec(id, steps, changes), this.signal);
  }

  /** Runs a container to its end, and tells what it printed. */
  async output(id: string, steps: readonly string[], changes: Partial<ContainerSpec> = {}): Promise<string> {
    await this.start(id, steps, changes);
    await this.endOf(id);
    return await this.log(id);
  }

  async find(id: string): Promise<ContainerObservation> {
    const found = await this.containers.findContainer(id, this.signal);
    assert.ok(found, `container ${id} is there`);
    return found;
  }

  async findSandbox(id = 'pod'): Promise<SandboxObservation> {
    const found = await this.containers.findSandbox(id, this.signal);
    assert.ok(found, `sandbox ${id} is there`);
    return found;
  }

  async endOf(id: string): Promise<ContainerEnd | undefined> {
    await this.until(async () => (await this.find(id)).state === 'ended');
    return (await this.find(id)).end;
  }

  /** What it has printed, error output too, with line ends. */
  async log(id: string, selection: LogSelection = {}): Promise<string> {
    let printed = '';
    for await (const line of this.containers.readLog(id, selection, this.signal))
      printed += text.decode(line.content) + (line.isPart ? '' : '\n');
    return printed;
  }

  async shows(id: string, words: string): Promise<void> {
    await this.until(async () => (await this.log(id)).includes(words));
  }

  async execute(id: string, steps: readonly string[], changes: Partial<ProcessOrder> = {}): Promise<Printed> {
    const order = { command: ['/guest', ...steps], hasInput: false, hasTerminal: false, ...changes };
    return new Printed(await this.containers.execute(id, order, this.signal));
  }

  async remove(id = 'pod'): Promise<void> {
    await this.containers.endSandbox(id, this.signal);
    await this.containers.removeSandbox(id, this.signal);
  }

  async until(claim: () => Promise<boolean> | boolean): Promise<void> {
    for (let passed = 0; passed < patienceMs; passed += stepMs) {
      if (await claim()) return;
      await this.world.pass(stepMs);
    }
    assert.fail(`this did not become true: ${claim.toString()}`);
  }

  /** What a promise comes to, while time passes. */
  async outcome<T>(promise: Promise<T>): Promise<T> {
    let isSettled = false;
    const settle = (): void => {
      isSettled = true;
    };
    promise.then(settle, settle);
    await this.until(() => isSettled);
    return await promise;
  }

  /** A call that is refused, and says how to go on. */
  async refuses(call: Promise<unknown>, reason: StatusError['reason'], words: RegExp): Promise<void> {
    await assert.rejects(call, (error) => {
      assert.ok(StatusError.is(error, reason), `${String(error)} is ${reason}`);
      assert.match(error.message, words);
      return true;
    });
  }
}

/** What a process prints, and its input. */
export class Printed {
  readonly process: ContainerProcess;
  output = '';
  errors = '';
  readonly ended: Promise<void>;

  constructor(process: ContainerProcess) {
    this.process = process;
    this.ended = this.#read();
  }

  async type(words: string): Promise<void> {
    await this.process.write(new TextEncoder().encode(words));
  }

  async #read(): Promise<void> {
    for await (const { stream, bytes } of this.process.output) {
      if (stream === 'stdout') this.output += text.decode(bytes);
      else this.errors += text.decode(bytes);
    }
  }
}

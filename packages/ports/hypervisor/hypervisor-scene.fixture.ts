import assert from 'node:assert/strict';
import { StatusError } from '@sheaf/base';
import type { ByteStream, Hypervisor } from './hypervisor.ts';
import type { Firmware, MachineSpec } from './machine.ts';
import type { DiskFile, MachineNic } from './machine-devices.ts';
import type { MachineEnd, MachineObservation } from './machine-state.ts';

/**
 * A host of its own for each test, and what the contract does not offer.
 *
 * Its guest needs 4 MiB and prints `guest ready, boot N` on the serial console, N counting its resets. It reacts to keys from
 * there: Q powers off, R resets, P reports a panic, H hangs for good, D (answered `deaf`) ignores the power button from then on,
 * E (answered `let go`) lets go of all devices that are to leave, L prints 64 KiB, ? prints `boots N ticks N`, ticks counting its
 * hundredths of seconds. Other keys it echoes. Until D, the power button powers it off.
 */
export interface HypervisorWorld {
  /** A driver on this host. Opened again while the one before still lives, there are two lives at once. */
  open(): Hypervisor;
  readonly guest: Firmware;
  /** A new disk with a file of its own. */
  makeDisk(name: string): Promise<DiskFile>;
  /** A new file that shows what `base` holds. */
  makeOverlay(name: string, base: DiskFile): Promise<DiskFile>;
  /** From now on nobody may begin to write to it: its volume has gone on in another file. */
  outdate(file: DiskFile): void;
  /** Where a machine's memory can be kept. */
  memoryPath(name: string): string;
  /** A bridge of the host and what is plugged into it; absent where none can be made. */
  readonly bridge?: { readonly name: string; ports(): Promise<readonly string[]> };
  /** Lets time pass and everything run. */
  pass(milliseconds: number): Promise<void>;
  /** Types into a machine's serial console while no driver is open. */
  type(id: string, keys: string): Promise<void>;
  kill(processId: number): Promise<void>;
  /** The process stays and does nothing, until it is thawed. */
  freeze(processId: number): Promise<void>;
  thaw(processId: number): Promise<void>;
  /** Ends all processes at once; drivers opened from now on find another boot. Those that were open are disposed. */
  restartHost(): Promise<void>;
  /** How many processes there are for a machine. */
  processCount(id: string): Promise<number>;
  /** Names of all that is kept or runs for machines: files, processes, network devices. */
  traces(): Promise<readonly string[]>;
}

/** Bounds the waiting of a test; nothing that is asserted. */
export const patienceMs = 30_000;
export const stepMs = 10;
export const mebibyte = 1024 * 1024;
export const text = new TextDecoder();

/** A world with its first driver open. */
export class Scene {
  readonly world: HypervisorWorld;
  hypervisor: Hypervisor;
  readonly signal = new AbortController().signal;
  #macs = 0;

  constructor(world: HypervisorWorld) {
    this.world = world;
    this.hypervisor = world.open();
  }

  /** The control process dies, and another one begins. */
  reopen(): void {
    this.hypervisor.dispose();
    this.hypervisor = this.world.open();
  }

  spec(id: string, changes: Partial<MachineSpec> = {}): MachineSpec {
    return {
      id,
      title: `default/${id}`,
      machineType: 'q35',
      cpu: { sockets: 1, cores: 1, threads: 1 },
      memory: { bytes: 4 * mebibyte },
      firmware: this.world.guest,
      identity: { uuid: '7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001', serial: 'with, comma' },
      disks: [],
      nics: [],
      hasGraphics: false,
      hasSerialConsole: true,
      hasAgentChannel: false,
      hasRandomSource: false,
      hasBalloon: false,
      ...changes,
    };
  }

  nic(name: string): MachineNic {
    const mac = `52:54:00:00:00:${(++this.#macs).toString(16).padStart(2, '0')}`;
    return { name, model: 'virtio', mac, link: { kind: 'user' } };
  }

  start(id: string, changes: Partial<MachineSpec> = {}): Promise<MachineObservation> {
    return this.hypervisor.start(this.spec(id, changes), this.signal);
  }

  /** Starts a machine and waits until its guest listens. */
  async run(id: string, changes: Partial<MachineSpec> = {}): Promise<Console> {
    const { state, end } = await this.start(id, changes);
    assert.deepEqual({ state, end }, { state: 'paused', end: undefined });
    const console = await this.console(id);
    await this.hypervisor.resume(id, this.signal);
    await console.shows('guest ready, boot 1\n');
    return console;
  }

  async console(id: string): Promise<Console> {
    return new Console(this, await this.hypervisor.openSerial(id, this.signal));
  }

  async find(id: string): Promise<MachineObservation> {
    const found = await this.hypervisor.find(id, this.signal);
    assert.ok(found, `machine ${id} is there`);
    return found;
  }

  async processOf(id: string): Promise<number> {
    const { processId } = await this.find(id);
    assert.ok(processId !== undefined, `machine ${id} has a process`);
    return processId;
  }

  /** The machine once a claim about it is true. */
  async when(id: string, claim: (seen: MachineObservation) => boolean): Promise<MachineObservation> {
    let seen = await this.find(id);
    await this.until(async () => {
      seen = await this.find(id);
      return claim(seen);
    });
    return seen;
  }

  async endOf(id: string): Promise<MachineEnd | undefined> {
    return (await this.when(id, ({ state }) => state === 'ended')).end;
  }

  async device(id: string, name: string): Promise<unknown> {
    return (await this.find(id)).devices.find((device) => device.name === name);
  }

  async until(claim: () => Promise<boolean> | boolean): Promise<void> {
    for (let passed = 0; passed < patienceMs; passed += stepMs) {
      if (await claim()) return;
      await this.world.pass(stepMs);
    }
    assert.fail(`this did not become true: ${claim.toString()}`);
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

/** What a guest prints, and a keyboard. */
export class Console {
  readonly #scene: Scene;
  readonly #stream: ByteStream;
  printed = '';
  isEnded = false;

  constructor(scene: Scene, stream: ByteStream) {
    this.#scene = scene;
    this.#stream = stream;
    void this.#read();
  }

  async type(keys: string): Promise<void> {
    await this.#stream.write(new TextEncoder().encode(keys));
  }

  async shows(words: string | RegExp): Promise<void> {
    const isShown = (): boolean =>
      typeof words === 'string' ? this.printed.includes(words) : words.test(this.printed);
    await this.#scene.until(isShown);
  }

  /** The answer to ?. */
  async status(): Promise<{ boots: number; ticks: number }> {
    const seen = this.printed.length;
    await this.type('?');
    let found: RegExpExecArray | null = null;
    await this.#scene.until(() => {
      found = /boots (\d+) ticks (\d+)\n/.exec(this.printed.slice(seen));
      return found !== null;
    });
    const [, boots, ticks] = found ?? [];
    return { boots: Number(boots), ticks: Number(ticks) };
  }

  close(): void {
    this.#stream.dispose();
  }

  async #read(): Promise<void> {
    try {
      for await (const bytes of this.#stream.readable) this.printed += text.decode(bytes, { stream: true });
    } finally {
      this.isEnded = true;
    }
  }
}

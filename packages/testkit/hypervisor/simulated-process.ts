import type { Clock } from '@sheaf/base';
import type { ForwardedPort, MachineDisk, MachineEnd, MachineNic, MachineSpec } from '@sheaf/ports';
import { ByteQueue } from './byte-queue.ts';
import { SimulatedGuest } from './simulated-guest.ts';

/** What a process needs from the host it runs on. */
export interface ProcessHost {
  readonly clock: Clock;
  /** Until its first answer. */
  readonly startMs: number;
  freePort(): number;
  /** Something about the machine has changed; `end` when it cannot go on. */
  onChange(end?: MachineEnd): void;
  onReset(): void;
  onLetGo(): void;
  /** Kept with the machine, not with the process. */
  log(text: string): void;
}

/** The one process of a machine; it goes on while no driver is open. */
export class SimulatedProcess {
  readonly pid: number;
  readonly disks = new Map<string, MachineDisk>();
  /** Open with their locks, and behind no device: they are about to be, or the life that opened them has died. */
  readonly opened = new Set<MachineDisk>();
  readonly nics = new Map<string, MachineNic>();
  readonly forwards: ForwardedPort[] = [];
  readonly guest: SimulatedGuest;
  readonly consoles = new Set<ByteQueue>();
  sockets: number;
  memoryBytes: number;
  isFrozen = false;
  /** Its processors stood when it was frozen. */
  #wasRunning = false;
  readonly #host: ProcessHost;
  #readyAt: number;

  constructor(pid: number, options: { spec: MachineSpec; host: ProcessHost }) {
    const { spec, host } = options;
    this.pid = pid;
    this.#host = host;
    this.#readyAt = host.clock.monotonic() + host.startMs;
    this.sockets = spec.cpu.sockets;
    this.memoryBytes = spec.memory.bytes;
    for (const disk of spec.disks) this.disks.set(disk.name, disk);
    for (const nic of spec.nics) this.addNic(nic);
    this.guest = new SimulatedGuest(host.clock, {
      print: (text) => this.#print(text),
      powerOff: () => host.onChange({ cause: 'guest-shutdown' }),
      panic: () => host.onChange({ cause: 'guest-panicked', message: 'the guest reported a panic' }),
      reset: () => {
        host.onReset();
        this.guest.boot();
      },
      letGo: () => host.onLetGo(),
    });
  }

  /** The same process on a host whose clock shows the same time; nobody looks at its consoles there. */
  copy(options: { spec: MachineSpec; host: ProcessHost }): SimulatedProcess {
    const copy = new SimulatedProcess(this.pid, options);
    replace(copy.disks, this.disks);
    for (const disk of this.opened) copy.opened.add(disk);
    replace(copy.nics, this.nics);
    copy.forwards.splice(0, copy.forwards.length, ...this.forwards);
    copy.sockets = this.sockets;
    copy.memoryBytes = this.memoryBytes;
    copy.isFrozen = this.isFrozen;
    copy.#wasRunning = this.#wasRunning;
    copy.#readyAt = this.#readyAt;
    copy.guest.takeOver(this.guest);
    return copy;
  }

  /** All whose files it has open. */
  get openDisks(): readonly MachineDisk[] {
    return [...this.disks.values(), ...this.opened];
  }

  /** 0 once it answers. */
  get untilReadyMs(): number {
    return Math.max(0, this.#readyAt - this.#host.clock.monotonic());
  }

  addNic(nic: MachineNic): void {
    this.nics.set(nic.name, nic);
    if (nic.link.kind !== 'user') return;
    for (const { protocol, guestPort } of nic.link.forwards ?? [])
      this.forward({ nic: nic.name, protocol, guestPort });
  }

  /** One that is there already stays as it is. */
  forward(port: Omit<ForwardedPort, 'hostPort'>): void {
    const { protocol, guestPort } = port;
    if (this.forwards.some((each) => each.protocol === protocol && each.guestPort === guestPort)) return;
    this.forwards.push({ ...port, hostPort: this.#host.freePort() });
    this.forwards.sort((a, b) => a.guestPort - b.guestPort);
  }

  removeNic(name: string): void {
    this.nics.delete(name);
    this.forwards.splice(0, this.forwards.length, ...this.forwards.filter(({ nic }) => nic !== name));
  }

  freeze(): void {
    this.#wasRunning = this.guest.isRunning;
    this.isFrozen = true;
    this.guest.halt();
  }

  thaw(): void {
    this.isFrozen = false;
    if (this.#wasRunning) this.guest.run();
  }

  openConsole(): ByteQueue {
    const console = new ByteQueue({
      onWrite: (bytes) => this.guest.type(new TextDecoder().decode(bytes)),
      onDispose: () => this.consoles.delete(console),
    });
    this.consoles.add(console);
    return console;
  }

  /** It is gone: so is what it had open. */
  end(): void {
    this.guest.halt();
    for (const console of this.consoles) console.end();
    this.consoles.clear();
  }

  #print(text: string): void {
    this.#host.log(text);
    for (const console of this.consoles) console.push(new TextEncoder().encode(text));
  }
}

function replace<K, V>(map: Map<K, V>, by: ReadonlyMap<K, V>): void {
  map.clear();
  for (const [key, value] of by) map.set(key, value);
}

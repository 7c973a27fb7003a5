import type { Disposable } from '@sheaf/base';
import type { Capability } from '../capability.ts';
import type { Progress } from '../volumes.ts';
import type { MachineSpec } from './machine.ts';
import type { DiskFile, DiskLimits, MachineDisk, MachineNic, PortForward } from './machine-devices.ts';
import type { MachineObservation } from './machine-state.ts';

export interface HypervisorCapabilities {
  readonly hypervisor: Capability;
  /** Which accelerator machines get, and why not the other. */
  readonly accelerator: { readonly kind: 'kvm' | 'tcg'; readonly reason: string };
  readonly machineTypes: readonly string[];
  readonly cpuModels: readonly string[];
  readonly efi: Capability;
  readonly secureBoot: Capability;
  readonly tpm: Capability;
  readonly bridges: Capability;
  /** Whether a guest on the pod network reaches the outside. It never reaches the host's loopback. */
  readonly podNetworkOutside: Capability;
  readonly cpuHotplug: Capability;
  /** Taking processors away while the guest runs. */
  readonly cpuHotUnplug: Capability;
  readonly memoryHotplug: Capability;
  readonly liveMigration: Capability;
  /** Machines that may be in their start at the same time; more are made to wait by the caller. */
  readonly parallelStarts: number;
}

/** A two-way stream of bytes, without a word of the transport below it. */
export interface ByteStream extends Disposable {
  /** Ends with the stream, or throws what broke it. */
  readonly readable: AsyncIterable<Uint8Array>;
  /** Resolves when more may be written. */
  write(bytes: Uint8Array): Promise<void>;
}

/** Where a machine's memory is to be kept, and where each of its disks goes on from that moment. */
export interface MemoryOrder {
  /** Absolute path of a file that only this order names. */
  readonly path: string;
  /** All that the guest writes to. The files exist already and have the old ones as their backing. */
  readonly disks: readonly { readonly name: string; readonly overlay: DiskFile }[];
}

/**
 * Runs virtual machines as processes that outlive this one.
 *
 * Every call looks at the world first and is idempotent: called again with the same arguments, also after a crash between any two
 * of its steps, it goes on or finds that nothing is to do. There is never more than one process for one id, whoever calls, and
 * never two writers of one disk that is not shareable: locks of the kernel see to it. Calls reject with a `StatusError` or an
 * `Error` whose message names the program's own words; an aborted `signal` ends the waiting, not the machine. `dispose` lets go of
 * the machines; they run on.
 */
export interface Hypervisor extends Disposable {
  /** Before the first `probe`, nothing is available. */
  capabilities(): HypervisorCapabilities;
  /** Looks again at what this machine can do. */
  probe(signal: AbortSignal): Promise<HypervisorCapabilities>;

  /** All machines that have not been forgotten. Those of an earlier life of this process are adopted. */
  list(signal: AbortSignal): Promise<readonly MachineObservation[]>;
  find(id: string, signal: AbortSignal): Promise<MachineObservation | undefined>;
  /** Tells which machine is to be looked at again, soon after anything about it changed. Events announce, they carry nothing. */
  onChange(listener: (id: string) => void): Disposable;

  /**
   * Makes the process, with its processors standing: state `paused`, or `ended` with `start-failed`. For one id that happens at
   * most once; called again it tells how things are. Rejects where something that it needs is not there yet; call it again then.
   */
  start(spec: MachineSpec, signal: AbortSignal): Promise<MachineObservation>;
  /**
   * Lets the processors run. Until then nothing has been written, and with the locks of all files held it is asked whether they may be
   * (`Volumes.mayWrite`); where one may not, the machine ends with `start-failed` and the call is refused as `Conflict`.
   */
  resume(id: string, signal: AbortSignal): Promise<void>;
  pause(id: string, signal: AbortSignal): Promise<void>;
  reset(id: string, signal: AbortSignal): Promise<void>;
  /** Asks the guest to shut down; it may not listen. */
  pressPowerButton(id: string, signal: AbortSignal): Promise<void>;
  /** Ends the process at once; resolves when it is gone. A cause that is there already stays. */
  end(id: string, signal: AbortSignal): Promise<void>;
  /** Removes every trace of an ended machine but what has a persistent key. Refuses one that runs. */
  forget(id: string, signal: AbortSignal): Promise<void>;
  /** Removes what is kept under a persistent key. */
  forgetPersistent(key: string, signal: AbortSignal): Promise<void>;

  /** Asked in the same way before the guest sees it; a `Conflict` leaves nothing open. */
  attachDisk(id: string, disk: MachineDisk, signal: AbortSignal): Promise<void>;
  /** Asks the guest to let go; `devices` of the observation tells when it has. */
  detachDisk(id: string, name: string, signal: AbortSignal): Promise<void>;
  /** `undefined` ejects. */
  changeMedium(
    id: string,
    change: { name: string; file: DiskFile | undefined },
    signal: AbortSignal,
  ): Promise<void>;
  /** Tells the guest of a file that has grown. */
  resizeDisk(id: string, change: { name: string; bytes: number }, signal: AbortSignal): Promise<void>;
  limitDisk(id: string, change: { name: string; limits: DiskLimits }, signal: AbortSignal): Promise<void>;
  attachNic(id: string, nic: MachineNic, signal: AbortSignal): Promise<void>;
  detachNic(id: string, name: string, signal: AbortSignal): Promise<void>;
  setCarrier(
    id: string,
    change: { name: string; carrier: 'up' | 'down' },
    signal: AbortSignal,
  ): Promise<void>;
  /** Only more than there are. */
  setSockets(id: string, sockets: number, signal: AbortSignal): Promise<void>;
  /** Only more than there is. */
  setMemory(id: string, bytes: number, signal: AbortSignal): Promise<void>;

  /**
   * Copies of all named disks as they were at one moment, made beside a running guest: from now on the machine writes to the
   * new file of each. The files exist already and have the old ones as their backing. All or none: what is refused leaves no new file
   * open, and a new file that has been given up meanwhile is refused as `Conflict`. After a crash within, `devices` of the observation
   * tells which file each disk writes to, and no other is open.
   */
  switchDisks(
    id: string,
    disks: readonly { readonly name: string; readonly overlay: DiskFile }[],
    signal: AbortSignal,
  ): Promise<void>;

  /**
   * The whole machine as it is at one moment: its memory in a file, with which `MachineSpec.memoryPath` goes on, and its disks, which
   * are switched as by `switchDisks`. The guest runs while most of it is written, stands for the rest, and goes on, also when this
   * process dies or it fails. The file has at most `memoryFileBytes`.
   *
   * Begins or goes on; called again, it tells how far it is. What was not whole when a life ended is begun anew. A failure is told
   * once: `fault` where it would fail again. Until then, other changes of the machine are refused as `Conflict`.
   */
  saveMemory(id: string, order: MemoryOrder, signal: AbortSignal): Promise<Progress>;

  /** A PNG of the first screen. */
  screenshot(id: string, signal: AbortSignal): Promise<Uint8Array>;
  /** Any number of viewers at once; what one types all see. */
  openSerial(id: string, signal: AbortSignal): Promise<ByteStream>;
  /** One viewer's RFB connection; any number of them. */
  openScreen(id: string, signal: AbortSignal): Promise<ByteStream>;
  /** The end of what the serial console has printed, rotated parts included, oldest first. */
  readSerialLog(
    id: string,
    options: { readonly tailBytes: number },
    signal: AbortSignal,
  ): Promise<Uint8Array>;
  /** A connection to a port of the guest on the pod network. By UDP each chunk is one message, in both directions. */
  openPort(id: string, port: PortForward, signal: AbortSignal): Promise<ByteStream>;
  /** One command of the QEMU guest agent protocol and its answer. */
  askAgent(
    id: string,
    command: { readonly execute: string; readonly arguments?: unknown },
    signal: AbortSignal,
  ): Promise<unknown>;
}

/** What the memory of a machine takes at most in a file: what it changes while that is written is written again, once. */
export function memoryFileBytes(memoryBytes: number): number {
  return 2 * memoryBytes + deviceBytes;
}

/** Devices, screen and what is said about the machine. */
const deviceBytes = 64 * 1024 * 1024;

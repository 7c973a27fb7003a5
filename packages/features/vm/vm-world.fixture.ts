import type { MachineEnd, MachineObservation, MachineSpec } from '@sheaf/ports';
import { type InstanceStep, type Preparation, planInstance } from './instance-plan.ts';
import type { LifecycleAnswer } from './lifecycle-request.ts';
import { type MachineStep, planVirtualMachine } from './plan.ts';
import type {
  RunStrategy,
  VirtualMachine,
  VirtualMachineInstance,
  VirtualMachineSpec,
} from './virtual-machine.ts';

const spec: MachineSpec = {
  id: 'set by the world',
  title: 'default/a',
  machineType: 'q35',
  cpu: { sockets: 1, cores: 1, threads: 1 },
  memory: { bytes: 2 ** 27 },
  firmware: { kind: 'bios' },
  identity: { uuid: '00000000-0000-4000-8000-000000000000' },
  disks: [],
  nics: [],
  hasGraphics: true,
  hasSerialConsole: true,
  hasAgentChannel: true,
  hasRandomSource: false,
  hasBalloon: true,
};

/** What a new virtual machine is like in these tests. */
export function machineOf(runStrategy: RunStrategy | boolean): VirtualMachine {
  const wanted = typeof runStrategy === 'boolean' ? { running: runStrategy } : { runStrategy };
  return {
    metadata: { namespace: 'default', name: 'a', uid: 'vm-1', generation: 1, resourceVersion: '1' },
    spec: {
      ...wanted,
      template: {
        spec: { domain: { memory: { guest: '128Mi' }, devices: {} }, terminationGracePeriodSeconds: 60 },
      },
    },
  };
}

/**
 * One virtual machine, its instance and its process, with no more sense than an API server and a host have: it keeps what is
 * written, takes the steps that are planned, and forgets everything else between two passes.
 */
export class VmWorld {
  machine: VirtualMachine | undefined;
  instance: VirtualMachineInstance | undefined;
  process: MachineObservation | undefined;
  nowMs = Date.parse('2026-01-01T00:00:00Z');
  /** Whether what the machine needs is there. */
  isPrepared = true;
  /** What becomes of a machine that is started. */
  startFailure: string | undefined;
  /** Whether the guest hears its power button. */
  isGuestListening = true;
  /** How many instances have been made. */
  starts = 0;
  /** Every step that was taken, oldest first. */
  readonly steps: string[] = [];
  #startedSpec: VirtualMachineSpec | undefined;

  constructor(machine: VirtualMachine) {
    this.machine = machine;
  }

  /** One pass of both planners; true if it changed anything. */
  pass(): boolean {
    const before = JSON.stringify([this.machine, this.instance, this.process]);
    this.passMachine();
    this.passInstance();
    return JSON.stringify([this.machine, this.instance, this.process]) !== before;
  }

  /** Until nothing changes any more; throws if that never comes. */
  settle(limit = 40): void {
    for (let count = 0; count < limit; count++) if (!this.pass()) return;
    throw new Error(`no rest after ${limit} passes: ${this.steps.slice(-12).join(', ')}`);
  }

  /** Until nothing changes, waiting through back-off and grace. */
  settleLater(seconds: number): void {
    this.settle();
    this.nowMs += seconds * 1000;
    this.settle();
  }

  passMachine(options: { readonly isCutAfterStatus?: boolean } = {}): void {
    if (!this.machine) return;
    const plan = planVirtualMachine({
      machine: this.machine,
      instance: this.instance,
      startedSpec: this.#startedSpec,
      claims: new Map(),
      abilities: { canAddSockets: true, canAddMemory: false },
      volumeFault: undefined,
      nowMs: this.nowMs,
      jitter: 0,
    });
    this.machine = { ...this.machine, status: plan.status };
    if (options.isCutAfterStatus !== true) this.#takeMachineStep(plan.step);
  }

  passInstance(options: { readonly isCutAfterStatus?: boolean } = {}): void {
    if (!this.instance) return;
    const plan = planInstance({
      instance: this.instance,
      hasOwner: this.machine !== undefined,
      observation: this.process,
      preparation: this.#preparation(this.instance),
      nodeName: 'node-1',
      obstacle: undefined,
      guest: undefined,
      liveMigration: { isAvailable: false, reason: 'there is one node' },
      nowMs: this.nowMs,
    });
    this.instance = { ...this.instance, status: plan.status };
    if (options.isCutAfterStatus !== true) this.#takeInstanceStep(plan.step);
  }

  endProcess(end: MachineEnd): void {
    if (this.process && this.process.state !== 'ended')
      this.process = { ...this.process, state: 'ended', end };
  }

  /** A user's request; what it was refused with, or `accepted`. */
  request(answer: LifecycleAnswer): string {
    if (!answer.isAccepted) return `${answer.error.code}`;
    for (const write of answer.writes) {
      if (write.target === 'instance') this.instance = write.object;
      else this.machine = write.target === 'machine' ? withGeneration(write.object) : write.object;
    }
    return 'accepted';
  }

  change(change: Partial<VirtualMachineSpec>): void {
    if (this.machine)
      this.machine = withGeneration({ ...this.machine, spec: { ...this.machine.spec, ...change } });
  }

  deleteMachine(): void {
    if (!this.machine) return;
    const deletionTimestamp = new Date(this.nowMs).toISOString();
    this.machine = { ...this.machine, metadata: { ...this.machine.metadata, deletionTimestamp } };
    this.#collect();
  }

  /** As a user may do with kubectl. */
  deleteInstance(): void {
    if (!this.instance || this.instance.metadata.deletionTimestamp !== undefined) return;
    const deletionTimestamp = new Date(this.nowMs).toISOString();
    this.instance = { ...this.instance, metadata: { ...this.instance.metadata, deletionTimestamp } };
    this.#collect();
  }

  /** How things stand, in the words of the tables. */
  get outcome(): string {
    if (!this.machine) return this.instance || this.process ? 'left over' : 'gone';
    if (!this.instance) return 'off';
    const { phase } = this.instance.status ?? {};
    return phase === 'Running' ? (this.process?.state ?? 'no process') : (phase ?? 'new');
  }

  #preparation({ metadata }: VirtualMachineInstance): Preparation {
    return this.isPrepared
      ? { state: 'ready', spec: { ...spec, id: metadata.uid ?? '' }, warnings: [] }
      : {
          state: 'waiting',
          waiting: { reason: 'VolumeUnbound', text: 'A volume is missing', nature: 'transient' },
        };
  }

  #takeMachineStep(step: MachineStep): void {
    if (step.action !== 'none') this.steps.push(step.action);
    switch (step.action) {
      case 'none':
        return;
      case 'update-machine':
        this.machine = withGeneration({ ...step.machine, status: this.machine?.status ?? {} });
        break;
      case 'create-instance':
        this.starts++;
        this.#startedSpec = this.machine?.spec;
        this.instance = {
          ...step.instance,
          metadata: { ...step.instance.metadata, uid: `vmi-${this.starts}` },
          status: {},
        };
        break;
      case 'delete-instance':
        this.deleteInstance();
        break;
      case 'update-instance':
        this.instance = step.instance;
        break;
    }
    this.#collect();
  }

  #takeInstanceStep(step: InstanceStep): void {
    if (step.action !== 'none') this.steps.push(step.action);
    switch (step.action) {
      case 'start':
        this.process = this.#newProcess(step.spec);
        return;
      case 'resume':
        this.#resume();
        return;
      case 'press-power-button':
        if (this.isGuestListening) this.endProcess({ cause: 'guest-shutdown' });
        return;
      case 'end':
        this.endProcess({ cause: 'stopped' });
        return;
      case 'forget':
        this.process = undefined;
        return;
      case 'release':
        this.#release(step.finalizers);
        return;
      default:
        return;
    }
  }

  #resume(): void {
    if (this.process) this.process = { ...this.process, state: 'running' };
  }

  #release(finalizers: readonly string[]): void {
    if (!this.instance) return;
    this.instance = {
      ...this.instance,
      metadata: { ...this.instance.metadata, finalizers: [...finalizers] },
    };
    this.#collect();
  }

  #newProcess({ id }: MachineSpec): MachineObservation {
    if (this.process && this.process.state !== 'ended') throw new Error('two processes for one machine');
    const born = {
      id,
      title: 'default/a',
      startedAt: this.nowMs,
      devices: [],
      forwards: [],
      sockets: 1,
      memoryBytes: 2 ** 27,
      isAgentConnected: false,
      guestResets: 0,
    };
    return this.startFailure === undefined
      ? { ...born, state: 'paused' }
      : { ...born, state: 'ended', end: { cause: 'start-failed', message: this.startFailure } };
  }

  /** The API server removes what is deleted and held by nobody. */
  #collect(): void {
    if (isCollectable(this.machine)) this.machine = undefined;
    if (isCollectable(this.instance)) this.instance = undefined;
  }
}

function isCollectable(object: VirtualMachine | VirtualMachineInstance | undefined): boolean {
  return object?.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).length === 0;
}

function withGeneration(machine: VirtualMachine): VirtualMachine {
  const { generation = 1 } = machine.metadata;
  return { ...machine, metadata: { ...machine.metadata, generation: generation + 1 } };
}

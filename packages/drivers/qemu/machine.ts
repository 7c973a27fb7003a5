import { type Disposable, type JsonObject, type JsonValue, StatusError, toError } from '@sheaf/base';
import type { MachineEnd, MachineObservation, MachineSpec } from '@sheaf/ports';
import type { ChangedMachine } from './device-changes.ts';
import { fileNames, tapName } from './device-names.ts';
import { endOfDeath, endOfStatus, endProcess, panicWords, releaseHostResources } from './ending.ts';
import { type FileGuard, guardOf } from './file-guard.ts';
import { type FirstAnswer, untilAnswered } from './first-answer.ts';
import type { MachineHost } from './host.ts';
import type { Launching } from './launcher.ts';
import type { MachineFiles, MachineRecord } from './machine-files.ts';
import { MachineLink } from './machine-link.ts';
import { launchMachine, prepareDevices } from './machine-start.ts';
import { settleMemory } from './memory-settling.ts';
import { endedObservation, runningObservation, stateObservation } from './observation.ts';
import { endPasst } from './passt.ts';
import { isAlive, type ProcessIdentity, waitForExit } from './process-identity.ts';
import { QmpClosed, QmpError, type QmpEvent, QmpSilence, textAt } from './qmp-client.ts';
import { removeTap } from './tap-device.ts';
import { TaskQueue } from './task-queue.ts';
import { tidyDevices } from './tidy-devices.ts';

/** Events after which the machine may have ended. */
const endEvents = new Set(['SHUTDOWN', 'GUEST_PANICKED', 'GUEST_CRASHLOADED', 'WATCHDOG', 'STOP']);
/** Events after which something else is to be looked at. */
const otherEvents = new Set([
  'RESUME',
  'BLOCK_IO_ERROR',
  'DEVICE_TRAY_MOVED',
  'VSERPORT_CHANGE',
  'ACPI_DEVICE_OST',
]);

/** One machine: its directory, its process, and what connects us with it. */
export class Machine implements Disposable {
  readonly id: string;
  readonly files: MachineFiles;
  /** What changes the machine happens in turn. */
  readonly queue = new TaskQueue();
  readonly mayWrite: FileGuard;
  readonly #host: MachineHost;
  #link: MachineLink | undefined;
  #attaching: Promise<MachineLink> | undefined;
  #finishing: Promise<MachineObservation> | undefined;
  #isStarting = false;
  #isSilent = false;
  #isDisposed = false;
  #panicWords = '';

  constructor(id: string, options: { files: MachineFiles; host: MachineHost }) {
    this.id = id;
    this.files = options.files;
    this.#host = options.host;
    this.mayWrite = guardOf(options.files, options.host);
  }

  /** How it is now; `undefined` if there is none. What has ended is brought to its end on the way. */
  async observe(): Promise<MachineObservation | undefined> {
    const record = await this.files.readRecord();
    if (!record) return undefined;
    if (this.#isStarting) return stateObservation(record, 'starting');
    const identity = await this.files.readProcess(fileNames.machine);
    const end = await this.files.readEnd();
    if (identity && isAlive(identity, this.#host.bootId))
      return end
        ? await this.#finish({ record, identity, end })
        : await this.#observeRunning(record, identity);
    if (end) return endedObservation(record, end);
    if (!identity) return stateObservation(record, 'starting');
    return await this.#settle(record, await endOfDeath(this.files, record, this.#host.bootId));
  }

  async start(spec: MachineSpec): Promise<MachineObservation> {
    const seen = await this.observe();
    if (seen && seen.state !== 'starting') return seen;
    this.#isStarting = true;
    try {
      const { record, launching } = await launchMachine({ spec, files: this.files, host: this.#host });
      const end = await this.#awaitReady(record, launching);
      launching?.dispose();
      if (end) return await this.#settle(record, end);
    } finally {
      this.#isStarting = false;
      this.#host.announce(this.id);
    }
    return this.#mustBeThere(await this.observe());
  }

  /** Ends the process; a cause that is there already stays. */
  async end(end: MachineEnd = { cause: 'stopped' }): Promise<void> {
    const seen = this.#mustBeThere(await this.observe());
    if (seen.state === 'ended') return;
    const record = await this.files.readRecord();
    const identity = await this.files.readProcess(fileNames.machine);
    if (!record) return;
    const last = identity ? await this.#finish({ record, identity, end }) : await this.#settle(record, end);
    if (last.state !== 'ended')
      throw new StatusError({
        reason: 'ServerTimeout',
        message: `the process ${identity?.pid} of machine ${this.id} does not end, not even when it is killed; it waits for a device of the host`,
      });
  }

  /** Lets go of a machine that has ended; its directory can then be removed. */
  async release(): Promise<void> {
    const seen = await this.observe();
    if (seen && seen.state !== 'ended')
      throw new StatusError({
        reason: 'Conflict',
        message: `machine ${this.id} is ${seen.state}: end it before it is forgotten`,
      });
    this.dispose();
    await releaseHostResources(this.files, this.id, this.#host);
  }

  /** The connections to a machine that runs. @throws StatusError if it does not, or does not answer */
  async link(): Promise<{ link: MachineLink; record: MachineRecord }> {
    const record = await this.files.readRecord();
    const identity = await this.files.readProcess(fileNames.machine);
    if (!record) throw new StatusError({ reason: 'NotFound', message: `there is no machine ${this.id}` });
    const isRunning = identity && isAlive(identity, this.#host.bootId) && !(await this.files.readEnd());
    if (!isRunning)
      throw new StatusError({
        reason: 'Conflict',
        message: `machine ${this.id} does not run: start it first`,
      });
    if (this.#isSilent) throw this.#silence();
    return { link: await this.#attached(record), record };
  }

  async execute(command: string, args?: JsonObject): Promise<JsonValue> {
    return await this.whileAnswering(({ link }) => link.execute(command, args));
  }

  /** Does something with the running machine. @throws StatusError when it stops answering */
  async whileAnswering<T>(task: (machine: ChangedMachine) => Promise<T>): Promise<T> {
    const { link, record } = await this.link();
    try {
      return await task({
        link,
        spec: record.spec,
        mayWrite: this.mayWrite,
        leaving: () => this.leaving(),
        setLeaving: (device, isLeaving) => this.setLeaving(device, isLeaving),
        onNicGone: (name) => this.onNicGone(name),
      });
    } catch (error) {
      if (!(error instanceof QmpSilence)) throw error;
      this.#setSilent(true);
      throw this.#silence(error);
    }
  }

  /** Asks whether it still answers; bounded. */
  async beat(): Promise<void> {
    if (this.#isStarting || this.#isDisposed) return;
    const record = await this.files.readRecord();
    const identity = await this.files.readProcess(fileNames.machine);
    if (!record || !identity || (await this.files.readEnd())) return;
    if (!isAlive(identity, this.#host.bootId)) {
      await this.observe();
      return this.#host.announce(this.id);
    }
    try {
      const link = await this.#attached(record);
      await link.execute('query-status');
      // What it was told while nobody heard its answers may have been done in part.
      if (this.#isSilent) this.#inBackground(() => this.queue.run(() => tidyDevices(this, link)));
      this.#setSilent(false);
      await link.serial?.ensureConnected().catch(() => undefined);
    } catch (error) {
      this.#setSilent(!(await this.#isStillStarting(error)));
    }
  }

  /** Remembers which devices the guest has been asked to let go of. */
  async setLeaving(device: string, isLeaving: boolean): Promise<void> {
    await this.files.updateNotes((notes) => {
      const others = notes.leaving.filter((id) => id !== device);
      return { ...notes, leaving: isLeaving ? [...others, device] : others };
    });
  }

  async leaving(): Promise<readonly string[]> {
    return (await this.files.readNotes()).leaving;
  }

  async onNicGone(name: string): Promise<void> {
    const { bootId, clock, limits } = this.#host;
    await endPasst(this.files, name, { bootId, clock, limitMs: limits.endMs });
    const { networkTool } = this.#host.programs();
    if (networkTool !== undefined) await removeTap(networkTool, tapName(this.id, name));
  }

  /** Lets go of the connections; the machine runs on. */
  dispose(): void {
    this.#isDisposed = true;
    this.#link?.dispose();
    this.#link = undefined;
  }

  async #observeRunning(record: MachineRecord, identity: ProcessIdentity): Promise<MachineObservation> {
    if (this.#isSilent) return stateObservation(record, 'unresponsive', identity.pid);
    try {
      const link = await this.#attached(record);
      const facts = await link.facts.read();
      const end = endOfStatus(facts.status, this.#panicWords);
      if (end) return await this.#finish({ record, identity, end });
      return runningObservation(record, { facts, notes: await this.files.readNotes(), pid: identity.pid });
    } catch (error) {
      // A connection that ends is the first sign that the process does.
      const wait = { bootId: this.#host.bootId, clock: this.#host.clock, limitMs: this.#host.limits.endMs };
      const isGone = error instanceof QmpClosed && (await waitForExit(identity, wait));
      if (isGone || !isAlive(identity, this.#host.bootId)) return this.#mustBeThere(await this.observe());
      if (await this.#isStillStarting(error)) return stateObservation(record, 'starting', identity.pid);
      this.#setSilent(true);
      return stateObservation(record, 'unresponsive', identity.pid);
    }
  }

  /** True where a life before this one launched it, and it does not listen yet. */
  async #isStillStarting(error: unknown): Promise<boolean> {
    return !(error instanceof QmpSilence) && !(await this.files.wasReady());
  }

  /** Waits for the first answer. Resolves to the end, if there came none. */
  async #awaitReady(
    record: MachineRecord,
    launching: Launching | undefined,
  ): Promise<MachineEnd | undefined> {
    const awaited = { files: this.files, host: this.#host, launching };
    const answer = await untilAnswered(awaited, (identity) => this.#firstAnswer(record, identity));
    if (answer !== undefined) return answer === 'there' ? undefined : answer;
    return await this.#giveUp(`no answer within ${this.#host.limits.startMs} ms`);
  }

  async #firstAnswer(record: MachineRecord, identity: ProcessIdentity): Promise<FirstAnswer> {
    const { bootId } = this.#host;
    if (!isAlive(identity, bootId)) return await endOfDeath(this.files, record, bootId);
    // To try to connect costs more than to look.
    if (!this.files.has(fileNames.control)) return 'none yet';
    try {
      await this.#attached(record);
      return 'there';
    } catch (error) {
      if (this.#isDisposed) throw error;
      // It answers, and refuses something that belongs to its start.
      if (error instanceof QmpError) return await this.#giveUp(error.message);
      // Another client holds its control socket: it is there.
      return error instanceof QmpSilence ? 'there' : 'none yet';
    }
  }

  async #giveUp(reason: string): Promise<MachineEnd> {
    const identity = await this.files.readProcess(fileNames.machine);
    const words = await this.files.lastWords(fileNames.machine);
    if (identity) await endProcess(identity, this.#host, undefined);
    return { cause: 'start-failed', message: words ? `${reason}\n${words}` : reason };
  }

  #attached(record: MachineRecord): Promise<MachineLink> {
    if (this.#link) return Promise.resolve(this.#link);
    this.#attaching ??= this.#attach(record).finally(() => {
      this.#attaching = undefined;
    });
    return this.#attaching;
  }

  async #attach(record: MachineRecord): Promise<MachineLink> {
    if (this.#isDisposed) throw new Error(`this driver has let go of machine ${this.id}: open it again`);
    const link = await MachineLink.open(
      { files: this.files, record, host: this.#host },
      { onEvent: (event) => this.#onEvent(event), onClose: () => this.#onClose() },
    );
    try {
      const wasReady = await this.files.wasReady();
      // Before it is said to be ready nobody changes it: nothing has been left behind its devices.
      const tidied = wasReady ? tidyDevices(this, link) : undefined;
      const [answer] = await Promise.all([link.execute('query-status'), tidied]);
      // A life before this one may have ended before these were set.
      const isNew = textAt(answer, 'status') === 'prelaunch' || !wasReady;
      if (isNew) await prepareDevices(record.spec, link);
      await this.#settleMemory(link, record);
      await this.files.markReady();
    } catch (error) {
      link.dispose();
      throw error;
    }
    if (this.#isDisposed) link.dispose();
    this.#link = link;
    return link;
  }

  /** A life before this one may have ended while the memory was kept. */
  async #settleMemory(link: MachineLink, { spec }: MachineRecord): Promise<void> {
    const { memoryOrder } = await this.files.readNotes();
    const { clock } = this.#host;
    const { files, mayWrite } = this;
    if (memoryOrder) await settleMemory({ link, spec, files, mayWrite, clock }, memoryOrder);
  }

  #onEvent(event: QmpEvent): void {
    if (event.name === 'GUEST_PANICKED') this.#panicWords = panicWords(event);
    if (event.name === 'RESET' && event.data['guest'] === true) this.#inBackground(() => this.#countReset());
    else if (event.name === 'DEVICE_DELETED' || event.name === 'DEVICE_UNPLUG_GUEST_ERROR')
      this.#inBackground(() => this.#onDevice(event));
    else if (endEvents.has(event.name)) this.#inBackground(() => this.observe());
    else if (otherEvents.has(event.name)) this.#host.announce(this.id);
  }

  async #countReset(): Promise<void> {
    await this.files.updateNotes((notes) => ({ ...notes, guestResets: notes.guestResets + 1 }));
  }

  /** The guest has let go of a device, or refuses to. */
  async #onDevice(event: QmpEvent): Promise<void> {
    const device = textAt(event.data, 'device');
    // It comes for the parts of a device, too.
    if (device === undefined) return;
    await this.queue.run(async () => {
      if (event.name !== 'DEVICE_DELETED') await this.setLeaving(device, false);
      else if (this.#link) await tidyDevices(this, this.#link);
    });
  }

  #onClose(): void {
    this.#link = undefined;
    if (this.#isDisposed || this.#isStarting) return;
    this.#inBackground(async () => {
      const identity = await this.files.readProcess(fileNames.machine);
      const { bootId, clock, limits } = this.#host;
      if (identity) await waitForExit(identity, { bootId, clock, limitMs: limits.endMs });
      await this.observe();
    });
  }

  /** Does what an event calls for, then tells that something has changed. */
  #inBackground(task: () => Promise<unknown>): void {
    task()
      .catch((error: unknown) => {
        if (this.#isDisposed) return;
        this.#host.logger.warn('An event of a machine could not be dealt with', {
          id: this.id,
          error: toError(error),
        });
      })
      .finally(() => this.#host.announce(this.id));
  }

  /** Writes the cause down, ends the process, and frees what it had. */
  async #finish(ending: Ending): Promise<MachineObservation> {
    this.#finishing ??= this.#finishNow(ending).finally(() => {
      this.#finishing = undefined;
    });
    return await this.#finishing;
  }

  async #finishNow({ record, identity, end }: Ending): Promise<MachineObservation> {
    const recorded = await this.files.recordEnd(end);
    const isGone = await endProcess(identity, this.#host, this.#isSilent ? undefined : this.#link?.qmp);
    if (!isGone) return stateObservation(record, 'unresponsive', identity.pid);
    this.#host.launcher.tidy();
    await releaseHostResources(this.files, this.id, this.#host);
    return endedObservation(record, recorded);
  }

  async #settle(record: MachineRecord, end: MachineEnd): Promise<MachineObservation> {
    const recorded = await this.files.recordEnd(end);
    this.#host.launcher.tidy();
    await releaseHostResources(this.files, this.id, this.#host);
    this.#host.logger.info('A machine has ended', { id: this.id, ...recorded });
    return endedObservation(record, recorded);
  }

  #setSilent(isSilent: boolean): void {
    if (this.#isSilent === isSilent) return;
    this.#isSilent = isSilent;
    this.#host.announce(this.id);
  }

  #silence(cause?: Error): StatusError {
    return new StatusError({
      reason: 'ServerTimeout',
      message: `machine ${this.id} does not answer; it may come back by itself, or end it and start it again`,
      cause,
    });
  }

  #mustBeThere(observation: MachineObservation | undefined): MachineObservation {
    if (observation) return observation;
    throw new StatusError({ reason: 'NotFound', message: `there is no machine ${this.id}` });
  }
}

interface Ending {
  readonly record: MachineRecord;
  readonly identity: ProcessIdentity;
  readonly end: MachineEnd;
}

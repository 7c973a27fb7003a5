import { createHash } from 'node:crypto';
import { chown, mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Clock } from '@sheaf/base';
import type {
  ContainerImage,
  ContainerObservation,
  ContainerSpec,
  SandboxObservation,
  SandboxSpec,
} from '@sheaf/ports';
import { isAlive, signalProcess, waitForExit } from '../qemu/process-identity.ts';
import { compiledVariable, type HostProgram, rootVariable, runVariable } from './host-program.ts';
import { isReachable } from './reachable.ts';
import { refusals } from './refusals.ts';
import {
  makeWhole,
  type RunEnd,
  RunFiles,
  type RunOrder,
  readClaim,
  readEnd,
  readJson,
  readOrder,
  readProgram,
  removeWhole,
  type SandboxRecord,
  writeOnce,
} from './run-files.ts';
import { makeLinks, plannedLinks } from './run-mounts.ts';
import { killRun } from './run-processes.ts';
import { withoutRights } from './without-rights.ts';

export interface HostProcessesOptions {
  /** Where everything is kept. One process at a time uses it. */
  readonly directory: string;
  readonly clock: Clock;
  readonly programs: readonly HostProgram[];
  readonly bootId: string;
}

/** Takes the place of a watcher: the kernel gives no such number to a process. */
const nobody = 2 ** 22 + 1;
/** A process that was killed and is still there after this waits in the kernel. */
const killMs = 30_000;

/** Runs and sandboxes as they are in their files and among the processes of the host; nothing is remembered. */
export class HostProcesses {
  readonly files: RunFiles;
  readonly clock: Clock;
  readonly programs: readonly HostProgram[];
  readonly #bootId: string;
  #tidied: Promise<void> | undefined;

  constructor({ directory, clock, programs, bootId }: HostProcessesOptions) {
    this.files = new RunFiles(directory);
    this.clock = clock;
    this.programs = programs;
    this.#bootId = bootId;
  }

  /** Before anything is made or looked for, once: what is half made later is being made. */
  tidy(): Promise<void> {
    this.#tidied ??= this.files.tidy().catch((error: unknown) => {
      this.#tidied = undefined;
      throw error;
    });
    return this.#tidied;
  }

  /** Tells those who listen that something about a sandbox has changed. */
  async announce(sandboxId: string): Promise<void> {
    await mkdir(this.files.events, { recursive: true });
    await writeFile(join(this.files.events, sandboxId), '');
  }

  async findSandbox(id: string): Promise<SandboxObservation | undefined> {
    const path = this.files.sandbox(id);
    const record = await readJson<SandboxRecord>(join(path, 'spec'));
    if (!record) return undefined;
    const { spec, createdAt, bootId } = record;
    const hasEnded = bootId !== this.#bootId || (await readJson<unknown>(join(path, 'ended'))) !== undefined;
    const { title, labels } = spec;
    return { id, title, labels, state: hasEnded ? 'ended' : 'ready', addresses: [], createdAt };
  }

  async makeSandbox(spec: SandboxSpec): Promise<void> {
    const record: SandboxRecord = { spec, createdAt: this.clock.now(), bootId: this.#bootId };
    await makeWhole(this.files.sandbox(spec.id), (path) =>
      writeFile(join(path, 'spec'), JSON.stringify(record)),
    );
    await this.announce(spec.id);
  }

  async markEnded(sandboxId: string): Promise<void> {
    await writeOnce(join(this.files.sandbox(sandboxId), 'ended'), '{}');
  }

  async removeSandbox(id: string): Promise<void> {
    for (const { id: runId } of await this.runsOf(id)) await this.removeRun(runId);
    await rm(this.files.sandboxLogs(id), { recursive: true, force: true });
    await removeWhole(this.files.sandbox(id));
    await rm(join(this.files.events, id), { force: true });
  }

  /** A run as it is now. One that nobody watches over any more is ended for good, with all its processes. */
  async findRun(id: string): Promise<ContainerObservation | undefined> {
    const run = this.files.run(id);
    const order = await readOrder(run);
    if (!order) return undefined;
    const { sandboxId, title, labels, imageId, createdAt } = order;
    const program = await readProgram(run);
    const common = { id, sandboxId, title, labels, imageId, createdAt };
    const started = program === undefined ? {} : { startedAt: program.startedAt };
    const end =
      (await readEnd(run)) ?? (await this.#endOfUnwatched(run, order)) ?? (await this.#endInVain(run, order));
    if (end) return { ...common, ...started, state: 'ended', ...end };
    if (!program) return { ...common, state: 'starting' };
    return { ...common, ...started, state: 'running', processId: program.identity.pid };
  }

  async #endOfUnwatched(run: string, { bootId }: RunOrder): Promise<RunEnd | undefined> {
    const claim = await readClaim(run);
    const isOfThisBoot = bootId === this.#bootId;
    if (isOfThisBoot && (!claim || isAlive(claim, this.#bootId))) return undefined;
    // Its end may have been written since it was looked for.
    const written = await readEnd(run);
    if (written) return written;
    return isOfThisBoot
      ? this.#endForGood(run, 'what watched over it was killed')
      : this.#writeEnd(run, 'the host has restarted');
  }

  /** It is ended with what watches over it, so that the reason is told and not the signal; nobody begins it afterwards. */
  async #endInVain(run: string, order: RunOrder): Promise<RunEnd | undefined> {
    const { id, reference, environment } = order;
    const program = this.programs.find((each) => each.reference === reference);
    const why = program?.whyInVain?.(environment);
    if (why === undefined) return undefined;
    await writeOnce(join(run, 'claim'), `${nobody} 0 ${this.#bootId}\n`);
    const claim = await readClaim(run);
    if (claim) {
      signalProcess(claim, this.#bootId, 'SIGKILL');
      const limits = { bootId: this.#bootId, clock: this.clock, limitMs: killMs };
      if (!(await waitForExit(claim, limits))) throw refusals.notEnding(id);
    }
    return (await readEnd(run)) ?? this.#endForGood(run, why);
  }

  async #endForGood(run: string, why: string): Promise<RunEnd> {
    while (killRun(run, undefined) > 0) await new Promise((resolve) => setImmediate(resolve));
    return this.#writeEnd(run, why);
  }

  /** Whoever comes second of two finds what the first has written. */
  async #writeEnd(run: string, message: string): Promise<RunEnd> {
    const end = { end: { cause: 'lost', message } as const, endedAt: this.clock.now() };
    await writeOnce(join(run, 'end'), JSON.stringify(end));
    return (await readEnd(run)) ?? end;
  }

  async runs(): Promise<readonly ContainerObservation[]> {
    const found = await Promise.all((await this.files.runIds()).map((id) => this.findRun(id)));
    return found.filter((run) => run !== undefined);
  }

  async runsOf(sandboxId: string): Promise<readonly ContainerObservation[]> {
    return (await this.runs()).filter((run) => run.sandboxId === sandboxId);
  }

  /** Everything that a run is started with, so that a watcher can take it on. @throws StatusError */
  async makeRun(spec: ContainerSpec): Promise<void> {
    const program = this.programs.find((each) => imageOf(each).id === spec.imageId);
    if (!program) throw refusals.noImage(spec.imageId);
    const problem = program.problem?.();
    if (problem) throw refusals.unavailable(problem.reason, problem.wayOut);
    if (spec.entryPoint) throw refusals.ownCommand(program.reference);
    if (spec.hasInput || spec.hasTerminal) throw refusals.noStreams();
    const links = await plannedLinks(spec.mounts);
    const order = await this.#orderOf(spec, program);
    await mkdir(order.logDirectory, { recursive: true });
    await mkdir(this.files.events, { recursive: true });
    await this.#makeCompiled(order.userId);
    await makeWhole(this.files.run(spec.id), async (path) => {
      await mkdir(join(path, 'root'));
      await makeLinks(join(path, 'root'), links);
      await mkdir(join(path, 'work'), { mode: 0o700 });
      if (order.userId !== undefined) await chown(join(path, 'work'), order.userId, order.userId);
      await writeFile(join(path, 'order'), JSON.stringify(order), { mode: 0o600 });
    });
  }

  async #orderOf(spec: ContainerSpec, program: HostProgram): Promise<RunOrder> {
    const { id, sandboxId, title, labels, imageId, environment } = spec;
    const run = this.files.run(id);
    const isOther = await this.#mayBeOther(spec, program);
    const asked = Object.entries(environment).filter(([name]) => program.variables.includes(name));
    return {
      id,
      sandboxId,
      title,
      labels,
      imageId,
      reference: program.reference,
      createdAt: this.clock.now(),
      bootId: this.#bootId,
      stopSignal: spec.stopSignal ?? 'SIGTERM',
      command: [
        ...(isOther ? [] : withoutRights(program.command)),
        ...program.command,
        ...(spec.arguments ?? []),
      ],
      environment: {
        HOME: join(run, 'work'),
        TMPDIR: join(run, 'work'),
        ...Object.fromEntries(asked),
        ...program.environment,
        [compiledVariable]: this.files.compiled(isOther ? program.userId : ownUser()),
        [rootVariable]: join(run, 'root'),
        [runVariable]: run,
      },
      userId: isOther ? program.userId : undefined,
      logDirectory: join(this.files.sandboxLogs(sandboxId), id),
      eventPath: join(this.files.events, sandboxId),
    };
  }

  async #makeCompiled(userId: number | undefined): Promise<void> {
    const directory = this.files.compiled(userId ?? ownUser());
    await mkdir(dirname(directory), { recursive: true });
    await mkdir(directory, { recursive: true, mode: 0o700 });
    if (userId !== undefined) await chown(directory, userId, userId);
  }

  /** Where everything that it needs is open to others: a checkout in somebody's home is not. */
  async #mayBeOther({ mounts }: ContainerSpec, { command }: HostProgram): Promise<boolean> {
    if (process.getuid?.() !== 0) return false;
    const paths = [...command, this.files.directory, ...mounts.map(({ hostPath }) => hostPath)];
    const isOpen = await Promise.all(paths.filter((path) => path.startsWith('/')).map(isReachable));
    return !isOpen.includes(false);
  }

  async removeRun(id: string): Promise<void> {
    await removeWhole(this.files.run(id));
  }

  /** Ends every process of a run at once; its watcher writes down how. */
  async kill(id: string): Promise<void> {
    const run = this.files.run(id);
    killRun(run, (await readClaim(run))?.pid);
  }

  async stopSignal(id: string): Promise<string> {
    return (await readOrder(this.files.run(id)))?.stopSignal ?? 'SIGTERM';
  }
}

/** A program in the words of images. */
export function imageOf({ reference, command, userId }: HostProgram): ContainerImage {
  const digest = createHash('sha256')
    .update(JSON.stringify([reference, command]))
    .digest('hex');
  return {
    id: `sha256:${digest}`,
    tags: [reference],
    digests: [],
    bytes: 0,
    user: `${userId}:${userId}`,
    entryPoint: command,
    arguments: [],
    createdAt: 0,
  };
}

function ownUser(): number {
  return process.getuid?.() ?? 0;
}

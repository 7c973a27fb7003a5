import { sleep } from '@sheaf/base';
import type { AttachOrder, ContainerProcess, ProcessOrder, ProcessOutput, TerminalSize } from '@sheaf/ports';
import { EndWatch } from './end-watch.ts';
import { containerObservation, isRunning, type SeenContainer } from './engine-containers.ts';
import { engineName } from './engine-names.ts';
import { type ExecState, endProcess } from './exec-sessions.ts';
import { logDirectory } from './log-files.ts';
import { viewLog } from './log-viewer.ts';
import type { PodmanEngine } from './podman-engine.ts';
import { processConnection } from './process-connection.ts';
import { isStartFailure, refusals, translated } from './refusals.ts';

const pollMs = 20;
const soonMs = 2000;
/** Of a command that is not there or cannot be started; but also of one that ends so by itself. */
const startFailureCodes = new Set([126, 127]);

/** Starts a process in a running container. */
export async function execute(
  engine: PodmanEngine,
  containerId: string,
  order: ProcessOrder,
): Promise<ContainerProcess> {
  const { engineId } = (await running(engine, containerId)).listed;
  const { hasInput, hasTerminal } = order;
  const body = {
    Cmd: order.command,
    AttachStdin: hasInput,
    AttachStdout: true,
    AttachStderr: !hasTerminal,
    Tty: hasTerminal,
  };
  const client = await engine.client();
  const limitMs = engine.parts.limits.callMs;
  try {
    const made = (await engine.call({ method: 'POST', path: `/containers/${engineId}/exec`, body })) as {
      readonly Id: string;
    };
    const path = `/exec/${made.Id}`;
    const state = async (): Promise<ExecState> =>
      (await engine.call({ method: 'GET', path: `${path}/json` })) as ExecState;
    const socket = await client.hijack({
      path: `${path}/start`,
      body: { Detach: false, Tty: hasTerminal },
      limitMs,
    });
    const connection = processConnection({
      socket,
      hasInput,
      hasTerminal,
      resize: (size) => resize(engine, path, size),
      exitCode: (signal) => ended(engine, state, signal),
      hasEnded: () => isTrueSoon(engine, async () => !(await state()).Running),
      onDispose: () => void endProcess(state),
    });
    return await started(engine, connection, state);
  } catch (error) {
    throw isStartFailure(error) ? refusals.commandFailed(error.message) : translated(error);
  }
}

/** The engine gives the connection before it starts the process, and tells there what went wrong. */
async function started(
  engine: PodmanEngine,
  connection: ContainerProcess,
  state: () => Promise<ExecState>,
): Promise<ContainerProcess> {
  let now = await state();
  while (!now.Running && !now.CanRemove) {
    await sleep(engine.parts.clock, pollMs, engine.signal);
    now = await state();
  }
  if (now.Running || !startFailureCodes.has(now.ExitCode)) return connection;
  const output: ProcessOutput[] = [];
  for await (const part of connection.output) output.push(part);
  const words = Buffer.concat(output.map(({ bytes }) => bytes)).toString();
  const failure = /(?:runc|crun): (.*unable to start container process.*|.*executable file.*)/.exec(
    words,
  )?.[1];
  if (failure !== undefined) throw refusals.commandFailed(failure);
  return { ...connection, output: again(output) };
}

async function* again(output: readonly ProcessOutput[]): AsyncGenerator<ProcessOutput> {
  for (const part of output) yield await Promise.resolve(part);
}

/** Connects to the first process of a running container. */
export async function attach(
  engine: PodmanEngine,
  containerId: string,
  order: AttachOrder,
): Promise<ContainerProcess> {
  const seen = await running(engine, containerId);
  const { hasTerminal } = seen.detail;
  const path = `/containers/${seen.listed.engineId}`;
  const common = {
    hasTerminal,
    resize: (size: TerminalSize) => resize(engine, path, size),
    exitCode: (signal: AbortSignal) => containerEnded(engine, containerId, signal),
  };
  if (!order.hasInput || !seen.detail.hasInput) {
    const { layout, clock } = engine.parts;
    const directory = await logDirectory(layout.logs, containerId);
    if (directory === undefined) throw refusals.noContainer(containerId);
    return await viewLog({
      ...common,
      reading: { directory, clock },
      end: new EndWatch(engine, containerId),
    });
  }
  const client = await engine.client();
  const socket = await client.hijack({
    path: `${path}/attach?stream=true&stdout=true&stderr=true&stdin=true`,
    limitMs: engine.parts.limits.callMs,
  });
  return processConnection({
    ...common,
    socket,
    hasInput: true,
    hasEnded: () =>
      isTrueSoon(engine, async () => {
        const now = await engine.catalog.find('container', containerId);
        return now === undefined || !isRunning(now);
      }),
    onDispose: () => undefined,
  });
}

async function running(engine: PodmanEngine, id: string): Promise<SeenContainer> {
  const seen = await engine.catalog.find('container', id);
  if (!seen) throw refusals.noContainer(id);
  if (!isRunning(seen)) throw refusals.notRunning(id);
  return seen;
}

async function resize(engine: PodmanEngine, path: string, { columns, rows }: TerminalSize): Promise<void> {
  await engine.call({ method: 'POST', path: `${path}/resize?w=${columns}&h=${rows}&running=true` });
}

/** The engine hears of an end a little later than its connection. Where it cannot tell, it is not so. */
async function isTrueSoon(engine: PodmanEngine, claim: () => Promise<boolean>): Promise<boolean> {
  try {
    for (let passedMs = 0; passedMs < soonMs; passedMs += pollMs) {
      if (await claim()) return true;
      await sleep(engine.parts.clock, pollMs, engine.signal);
    }
  } catch {
    // It is told by what broke the connection.
  }
  return false;
}

async function ended(
  engine: PodmanEngine,
  state: () => Promise<ExecState>,
  signal: AbortSignal,
): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    const { Running, ExitCode } = await state();
    if (!Running) return ExitCode;
    await sleep(engine.parts.clock, pollMs, signal);
  }
}

async function containerEnded(engine: PodmanEngine, id: string, signal: AbortSignal): Promise<number> {
  for (;;) {
    signal.throwIfAborted();
    const seen = await engine.catalog.find('container', id);
    if (!seen) throw refusals.noContainer(id);
    const { end } = containerObservation(seen);
    if (end && 'exitCode' in end) return end.exitCode;
    if (end) throw new Error(`how ${engineName('container', id)} ended is not known: ${end.message}`);
    await sleep(engine.parts.clock, pollMs, signal);
  }
}

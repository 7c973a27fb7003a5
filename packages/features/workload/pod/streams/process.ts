import type { ProcessAnswer, ProcessStreams, RemoteProcess } from '@sheaf/api';
import { isSet } from '@sheaf/api/workload/index';
import { badRequest, internalError, StatusError, toError } from '@sheaf/base';
import type { ContainerProcess } from '@sheaf/ports';
import { type PodRequest, type PodStreamParts, runningContainer } from './pod-target.ts';

/** Starts a process in a container. */
export async function execute(parts: PodStreamParts, request: PodRequest): Promise<ProcessAnswer> {
  const streams = streamsOf(request.query);
  const command = request.query.getAll('command');
  if (command.length === 0) throw badRequest('you must specify at least one command for the container');
  const { runId } = await runningContainer(parts, request);
  const order = { command, hasInput: streams.stdin, hasTerminal: streams.terminal };
  return {
    kind: 'process',
    streams,
    open: (signal) =>
      opened('executing command in', async () => {
        const process = await parts.containers.execute(runId, order, signal);
        return remote(process, async (asked) => exitStatus(await process.exitCode(asked)));
      }),
  };
}

/** Joins the first process of a container. */
export async function attach(parts: PodStreamParts, request: PodRequest): Promise<ProcessAnswer> {
  const asked = streamsOf(request.query);
  const { pod, name, runId } = await runningContainer(parts, request);
  const { initContainers = [], containers, ephemeralContainers = [] } = pod.spec;
  const all = [...containers, ...initContainers, ...ephemeralContainers];
  const container = all.find((item) => item.name === name);
  const hasTerminal = container?.tty === true;
  const streams = { ...asked, terminal: asked.terminal && hasTerminal, stderr: asked.stderr && !hasTerminal };
  return {
    kind: 'process',
    streams,
    open: (signal) =>
      opened('attaching to', async () => {
        const process = await parts.containers.attach(runId, { hasInput: streams.stdin }, signal);
        // How it ended is in the pod's status; here only that the connection is over.
        return remote(process, () => Promise.resolve(undefined));
      }),
  };
}

/** @throws StatusError 400 */
function streamsOf(query: URLSearchParams): ProcessStreams {
  const terminal = isSet(query, 'tty');
  const stdin = isSet(query, 'stdin');
  const stdout = isSet(query, 'stdout');
  // A terminal has one output.
  const stderr = isSet(query, 'stderr') && !terminal;
  if (stdin || stdout || stderr) return { stdin, stdout, stderr, terminal };
  throw badRequest('you must specify at least 1 of stdin, stdout, stderr');
}

/** @throws StatusError in the words of a kubelet */
async function opened(what: string, open: () => Promise<RemoteProcess>): Promise<RemoteProcess> {
  try {
    return await open();
  } catch (error) {
    throw internalError(`error ${what} container: ${toError(error).message}`, error);
  }
}

function remote(process: ContainerProcess, outcome: RemoteProcess['outcome']): RemoteProcess {
  return {
    output: process.output,
    write: (bytes) => process.write(bytes),
    endInput: () => process.endInput(),
    resize: (size) => process.resize(size),
    outcome,
    dispose: () => process.dispose(),
  };
}

function exitStatus(code: number): StatusError | undefined {
  if (code === 0) return undefined;
  if (code < 0)
    return internalError(
      'how the command ended is not known, for it could not be written down: see whether the disk of the node is full',
    );
  return new StatusError({
    reason: 'NonZeroExitCode',
    message: `command terminated with non-zero exit code: exit status ${code}`,
    details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
  });
}

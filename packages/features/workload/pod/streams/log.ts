import { dataAnswer, type ExtensionAnswer, type ExtensionRequest, emptyAnswer } from '@sheaf/api';
import { chosenContainer, type LogQuery, readLogQuery } from '@sheaf/api/workload/index';
import { type Clock, StatusError } from '@sheaf/base';
import type { Containers, LogLine, LogSelection } from '@sheaf/ports';
import { logSourceOf } from './log-source.ts';
import { logText } from './log-text.ts';
import { checkNode, type PodStreamParts, podOf } from './pod-target.ts';

export interface LogParts extends PodStreamParts {
  readonly clock: Clock;
}

/** What a container has printed; of a pod without a place, nothing yet. */
export async function readLog(parts: LogParts, request: ExtensionRequest): Promise<ExtensionAnswer> {
  const { query, signal } = request;
  const pod = await podOf(parts.client, request);
  const options = readLogQuery(query, request.name);
  const container = chosenContainer(pod, query.get('container') ?? '');
  if (!pod.spec.nodeName) return emptyAnswer(204);
  checkNode(pod, parts.nodeName);
  const runId = logSourceOf(pod, container, options.isPrevious);
  const selection = selectionOf(options, parts.clock.now());
  const lines = await opened(parts.containers, { runId, selection, signal });
  // What is printed need not be valid in any encoding.
  return dataAnswer('text/plain', logText(lines, options));
}

function selectionOf(
  { isFollowed, tailLines, sinceSeconds, sinceTime }: LogQuery,
  nowMs: number,
): LogSelection {
  const since = sinceSeconds === undefined ? sinceTime : nowMs - sinceSeconds * 1000;
  return { isFollowed, ...(since !== undefined && { since }), ...(tailLines !== undefined && { tailLines }) };
}

interface LogOrder {
  readonly runId: string;
  readonly selection: LogSelection;
  readonly signal: AbortSignal;
}

/** What stands against reading it is told before the answer begins. @throws StatusError */
async function opened(
  containers: Containers,
  { runId, selection, signal }: LogOrder,
): Promise<AsyncIterable<LogLine>> {
  const isThere = (await containers.findContainer(runId, signal)) !== undefined;
  const lines = containers.readLog(runId, selection, signal);
  if (isThere) return lines;
  // It has ended and its container is gone, but perhaps not its log: that has its first line now, or never.
  const reading = lines[Symbol.asyncIterator]();
  try {
    return withFirst(await reading.next(), reading);
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
    throw new StatusError({ reason: 'NotFound', message: 'the log of this container has been removed' });
  }
}

async function* withFirst(
  first: IteratorResult<LogLine>,
  rest: AsyncIterator<LogLine>,
): AsyncGenerator<LogLine> {
  for (let item = first; item.done !== true; item = await rest.next()) yield item.value;
}

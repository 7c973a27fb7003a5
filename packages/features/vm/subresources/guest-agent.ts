import {
  type ExtensionAnswer,
  type ExtensionEndpoint,
  type ExtensionRequest,
  emptyAnswer,
  jsonAnswer,
} from '@sheaf/api';
import { badRequest, type Clock, type Disposable, type JsonObject, StatusError, toError } from '@sheaf/base';
import type { Hypervisor } from '@sheaf/ports';
import { readGuestOs } from '../guest-report.ts';
import { readAgent, readFilesystems, readHostName, readTimezone, readUsers } from './guest-answers.ts';
import { checkAgent, checkRunning } from './instance-check.ts';
import { checkedInstance, processIdOf, type SubresourceParts } from './instance-request.ts';

const resource = 'virtualmachineinstances';
const apiVersion = 'subresources.kubevirt.io/v1';

export interface AgentParts extends SubresourceParts {
  readonly clock: Clock;
}

/** What the agent in the guest tells, and the freezing of its file systems. */
export function agentEndpoints(parts: AgentParts): readonly ExtensionEndpoint[] {
  const thaws = new Map<string, Disposable>();
  return [
    question(parts, 'guestosinfo', guestInfo),
    question(parts, 'userlist', async (ask) =>
      listOf('GuestOSUserList', readUsers(await ask('guest-get-users'))),
    ),
    question(parts, 'filesystemlist', async (ask) =>
      listOf('FileSystemList', readFilesystems(await ask('guest-get-fsinfo'))),
    ),
    {
      resource,
      subresource: 'freeze',
      verbs: ['update'],
      handle: (request) => freeze(parts, thaws, request),
    },
    {
      resource,
      subresource: 'unfreeze',
      verbs: ['update'],
      handle: (request) => thaw(parts, thaws, request),
    },
  ];
}

/** One command of the agent, and its answer. */
type Ask = (command: string) => Promise<unknown>;

function question(
  { client, hypervisor }: AgentParts,
  subresource: string,
  answer: (ask: Ask) => Promise<JsonObject>,
): ExtensionEndpoint {
  return {
    resource,
    subresource,
    verbs: ['get'],
    async handle(request) {
      const instance = await checkedInstance(client, request, checkAgent);
      const id = processIdOf(instance);
      return jsonAnswer(200, await answer((execute) => hypervisor.askAgent(id, { execute }, request.signal)));
    },
  };
}

function listOf(kind: string, items: readonly JsonObject[]): JsonObject {
  return { kind: `VirtualMachineInstance${kind}`, apiVersion, metadata: {}, items: [...items] };
}

async function guestInfo(ask: Ask): Promise<JsonObject> {
  const agent = readAgent(await ask('guest-info'));
  const part = partOf(ask, new Set(agent.commands.map(({ name }) => name)));
  const filesystems = readFilesystems(await part('guest-get-fsinfo'));
  const users = readUsers(await part('guest-get-users'));
  const isFrozen = (await part('guest-fsfreeze-status')) === 'frozen';
  return {
    kind: 'VirtualMachineInstanceGuestAgentInfo',
    apiVersion,
    guestAgentVersion: agent.version,
    supportedCommands: agent.commands.map((command) => ({ ...command })),
    hostname: readHostName(await part('guest-get-host-name')),
    os: withoutAbsent({ ...readGuestOs(await part('guest-get-osinfo')) }),
    timezone: readTimezone(await part('guest-get-timezone')),
    ...(users.length === 0 ? {} : { userList: [...users] }),
    fsInfo: { disks: [...filesystems] },
    ...(isFrozen ? { fsFreezeStatus: 'frozen' } : {}),
  };
}

/** Agents differ in what they know: what one does not know is left out, the rest is told. */
function partOf(ask: Ask, known: ReadonlySet<string>): Ask {
  return async (command) => {
    if (!known.has(command)) return undefined;
    try {
      return await ask(command);
    } catch (error) {
      if (toError(error).message.includes('agent refused')) return undefined;
      throw error;
    }
  };
}

function withoutAbsent(fields: Readonly<Record<string, string | undefined>>): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject;
}

/** As long as a machine that is frozen for a backup may stay so: nothing in it can write. */
const maxFreezeMs = 60 * 60 * 1000;

async function freeze(
  { client, hypervisor, clock }: AgentParts,
  thaws: Map<string, Disposable>,
  request: ExtensionRequest,
): Promise<ExtensionAnswer> {
  const limitMs = readTimeout((await request.body.json())?.['unfreezeTimeout']);
  const id = processIdOf(await checkedInstance(client, request, checkAgent));
  const wasDue = thaws.get(id);
  const due = clock.schedule(limitMs, () => {
    thaws.delete(id);
    // A guest that has ended meanwhile needs no thaw.
    thawNow(hypervisor, id, new AbortController().signal).catch(() => undefined);
  });
  thaws.set(id, due);
  wasDue?.dispose();
  try {
    await hypervisor.askAgent(id, { execute: 'guest-fsfreeze-freeze' }, request.signal);
  } catch (error) {
    throw agentFailure('freeze', error);
  }
  return emptyAnswer(202);
}

async function thaw(
  { client, hypervisor }: AgentParts,
  thaws: Map<string, Disposable>,
  request: ExtensionRequest,
): Promise<ExtensionAnswer> {
  const id = processIdOf(await checkedInstance(client, request, checkRunning));
  try {
    await thawNow(hypervisor, id, request.signal);
  } catch (error) {
    throw agentFailure('unfreeze', error);
  }
  thaws.get(id)?.dispose();
  thaws.delete(id);
  return emptyAnswer(202);
}

async function thawNow(hypervisor: Hypervisor, id: string, signal: AbortSignal): Promise<void> {
  await hypervisor.askAgent(id, { execute: 'guest-fsfreeze-thaw' }, signal);
}

function agentFailure(what: string, thrown: unknown): StatusError {
  if (StatusError.is(thrown)) return thrown;
  const error = toError(thrown);
  const wayOut = 'see that qemu-guest-agent runs in the guest and may freeze its file systems';
  return badRequest(`the guest could not ${what}: ${error.message}; ${wayOut}`, error);
}

/** A duration as Go writes it, `5m0s`; in JSON of Go clients also a number of nanoseconds. @throws StatusError 400 */
export function readTimeout(given: unknown): number {
  const milliseconds = typeof given === 'number' ? given / 1e6 : durationOf(given);
  if (milliseconds > 0 && milliseconds <= maxFreezeMs) return milliseconds;
  throw badRequest(
    'Unfreeze timeout in freeze request is not set; send {"unfreezeTimeout": "5m0s"}, at most an hour, after which the guest is unfrozen in any case',
  );
}

const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

function durationOf(text: unknown): number {
  if (typeof text !== 'string' || !/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return Number.NaN;
  const parts = text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g);
  return [...parts].reduce((sum, [, amount = '', unit = '']) => sum + Number(amount) * (units[unit] ?? 0), 0);
}

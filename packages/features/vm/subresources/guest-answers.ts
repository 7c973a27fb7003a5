import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';

/** A guest is not trusted: what it says is bounded, and read field by field. */
const maxText = 256;
const maxItems = 256;

/** Of `guest-get-users`, as KubeVirt tells of users. */
export function readUsers(answer: unknown): readonly JsonObject[] {
  return objectsOf(answer).map((user) => ({
    userName: textOf(user['user']),
    ...(textOf(user['domain']) === '' ? {} : { domain: textOf(user['domain']) }),
    ...(numberOf(user['login-time']) === 0 ? {} : { loginTime: numberOf(user['login-time']) }),
  }));
}

/** Of `guest-get-fsinfo`, as KubeVirt tells of file systems. */
export function readFilesystems(answer: unknown): readonly JsonObject[] {
  return objectsOf(answer).map((filesystem) => {
    const disks = objectsOf(filesystem['disk']).map(diskOf);
    return {
      diskName: textOf(filesystem['name']),
      mountPoint: textOf(filesystem['mountpoint']),
      fileSystemType: textOf(filesystem['type']),
      usedBytes: numberOf(filesystem['used-bytes']),
      totalBytes: numberOf(filesystem['total-bytes']),
      ...(disks.length === 0 ? {} : { disk: disks }),
    };
  });
}

function diskOf(disk: JsonObject): JsonObject {
  const serial = textOf(disk['serial']);
  return { ...(serial === '' ? {} : { serial }), busType: textOf(disk['bus-type']) };
}

interface AgentCommand {
  readonly name: string;
  readonly enabled?: true;
}

export interface AgentFacts {
  readonly version: string;
  readonly commands: readonly AgentCommand[];
}

/** Of `guest-info`. */
export function readAgent(answer: unknown): AgentFacts {
  if (!isJsonObject(answer)) return { version: '', commands: [] };
  const commands = objectsOf(answer['supported_commands']).map((command) => ({
    name: textOf(command['name']),
    ...(command['enabled'] === true ? { enabled: true as const } : {}),
  }));
  return { version: textOf(answer['version']), commands };
}

/** Of `guest-get-timezone`: `CET, 3600`. */
export function readTimezone(answer: unknown): string {
  if (!isJsonObject(answer)) return '';
  const zone = textOf(answer['zone']);
  const offset = numberOf(answer['offset']);
  return zone === '' ? '' : `${zone}, ${offset}`;
}

/** Of `guest-get-host-name`. */
export function readHostName(answer: unknown): string {
  return isJsonObject(answer) ? textOf(answer['host-name']) : '';
}

function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.slice(0, maxItems).filter((item) => isJsonObject(item)) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value.slice(0, maxText) : '';
}

function numberOf(value: JsonValue | undefined): number {
  return typeof value === 'number' && Number.isFinite(value) ? value : 0;
}

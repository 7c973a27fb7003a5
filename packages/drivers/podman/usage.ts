import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface GroupUsage {
  readonly cpuNanoseconds: number;
  readonly memoryBytes: number;
  readonly workingSetBytes: number;
  readonly processCount: number;
}

const root = '/sys/fs/cgroup';

/** What the control group of a process has used; `undefined` if it is gone. Both generations of control groups. */
export async function readGroupUsage(processId: number): Promise<GroupUsage | undefined> {
  try {
    const groups = groupsOf(await readFile(`/proc/${processId}/cgroup`, 'utf8'));
    const unified = groups.get('');
    const memory = groups.get('memory');
    if (memory !== undefined) return await readFirst(groups, memory);
    return unified === undefined ? undefined : await readUnified(unified);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ESRCH' || code === 'ENODEV') return undefined;
    throw error;
  }
}

/** Paths by controller; the unified hierarchy has none. */
function groupsOf(text: string): ReadonlyMap<string, string> {
  const groups = new Map<string, string>();
  for (const line of text.trim().split('\n')) {
    const [, controllers = '', path = ''] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    for (const controller of controllers.split(',')) groups.set(controller, path);
  }
  return groups;
}

async function readFirst(groups: ReadonlyMap<string, string>, memory: string): Promise<GroupUsage> {
  const path = (controller: string, file: string): string =>
    join(root, controller, groups.get(controller) ?? memory, file);
  const memoryBytes = await readNumber(path('memory', 'memory.usage_in_bytes'));
  const idle = fieldOf(await readFile(path('memory', 'memory.stat'), 'utf8'), 'total_inactive_file');
  return {
    cpuNanoseconds: await readNumber(path('cpuacct', 'cpuacct.usage')),
    memoryBytes,
    workingSetBytes: Math.max(0, memoryBytes - idle),
    processCount: await readNumber(path('pids', 'pids.current')),
  };
}

async function readUnified(group: string): Promise<GroupUsage> {
  const path = (file: string): string => join(root, group, file);
  const memoryBytes = await readNumber(path('memory.current'));
  const idle = fieldOf(await readFile(path('memory.stat'), 'utf8'), 'inactive_file');
  return {
    cpuNanoseconds: fieldOf(await readFile(path('cpu.stat'), 'utf8'), 'usage_usec') * 1000,
    memoryBytes,
    workingSetBytes: Math.max(0, memoryBytes - idle),
    processCount: await readNumber(path('pids.current')),
  };
}

async function readNumber(path: string): Promise<number> {
  return Number((await readFile(path, 'utf8')).trim());
}

function fieldOf(text: string, name: string): number {
  return Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
}

import { readdir, readFile } from 'node:fs/promises';

/** Who is at work for an operation on a chart: Helm, what drives it, and what watches over that. */
export type OperationPart = 'helm' | 'runner' | 'watcher';

export interface OperationProcess {
  readonly id: number;
  readonly part: OperationPart;
}

/** All of one data directory, whatever Sheaf says. */
export async function operationProcesses(directory: string): Promise<readonly OperationProcess[]> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const found = await Promise.all(
    ids.map(async (id) => {
      const part = await partOf(id, directory);
      return part === undefined ? [] : [{ id, part }];
    }),
  );
  return found.flat();
}

async function partOf(id: number, directory: string): Promise<OperationPart | undefined> {
  const read = (name: string): Promise<string> => readFile(`/proc/${id}/${name}`, 'latin1').catch(() => '');
  const words = (await read('cmdline')).split('\0');
  const [program = ''] = words;
  const places = `${directory}/programs/`;
  if (words.some((word) => word.endsWith('/host-processes/watcher.ts')))
    return words.some((word) => word.startsWith(places)) ? 'watcher' : undefined;
  const isRunner = words.some((word) => word.endsWith('/helm/run-helm.ts'));
  if (!isRunner && !program.endsWith('/helm')) return undefined;
  if (!(await read('environ')).includes(places)) return undefined;
  return isRunner ? 'runner' : 'helm';
}

import { randomUUID } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';

export interface KeptAnswer<T> {
  /** Where it is kept. */
  readonly path: string;
  /** What it holds for. */
  readonly key: string;
  /** Looks again. */
  readonly isFresh: boolean;
  /** Whether an answer holds as long as the key; absent: all do. */
  readonly holds?: (answer: T) => boolean;
}

/** An answer that costs a process to find: looked for once for each key. */
export async function keptAnswer<T>(
  { path, key, isFresh, holds = () => true }: KeptAnswer<T>,
  find: () => Promise<T>,
): Promise<T> {
  const kept = isFresh ? undefined : await readKept<T>(path, key);
  if (kept) return kept.answer;
  const answer = await find();
  if (!holds(answer)) return answer;
  // Several lives may find it at the same time, also within one process.
  const next = `${path}.${randomUUID()}.new`;
  await writeFile(next, JSON.stringify({ key, answer }));
  await rename(next, path);
  return answer;
}

async function readKept<T>(path: string, key: string): Promise<{ readonly answer: T } | undefined> {
  try {
    const kept = JSON.parse(await readFile(path, 'utf8')) as { key: string; answer: T };
    return kept.key === key ? kept : undefined;
  } catch {
    // Absent, or damaged by a crash of the host: it is found out again.
    return undefined;
  }
}

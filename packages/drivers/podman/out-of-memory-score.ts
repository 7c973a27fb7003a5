import { readFile } from 'node:fs/promises';

const mightyCapability = 1n << 24n;

/** The lowest out-of-memory score that this process may give others: its own, unless it may do anything with resources. */
export async function lowestScore(): Promise<number> {
  const status = await readFile('/proc/self/status', 'utf8');
  const capabilities = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`);
  if ((capabilities & mightyCapability) !== 0n) return -1000;
  return Number(await readFile('/proc/self/oom_score_adj', 'utf8'));
}

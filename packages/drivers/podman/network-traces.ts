import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { findProgram, runProgram } from '../qemu/run-program.ts';
import type { EngineLayout } from './engine-layout.ts';

/**
 * What stays on the host of a network after its last sandbox: the bridge, and rules of sandboxes whose end was cut off. Without
 * a sandbox nothing of it is in use; the next one makes it anew. Nothing there: nothing to do.
 */
export async function removeNetwork(layout: EngineLayout): Promise<void> {
  const ip = findProgram('ip');
  if (ip !== undefined && (await readdir('/sys/class/net')).includes(layout.bridgeName))
    await runProgram(ip, ['link', 'delete', 'dev', layout.bridgeName]);
  await removeRules((line) => chainsOf(layout).some((chain) => line.includes(chain)));
}

/** Takes away rules for sandboxes that are gone. */
export async function removePortRules(engineIds: readonly string[]): Promise<void> {
  await removeRules((line) => engineIds.some((id) => line.includes(`id: ${id}`)));
}

/** Rules of the table of address translation. */
export async function natRules(): Promise<readonly string[]> {
  const save = findProgram('iptables-save');
  if (save === undefined) return [];
  const { output } = await runProgram(save, ['-t', 'nat']);
  return output.split('\n').filter((line) => line.startsWith('-A ') || line.startsWith(':'));
}

/** Netavark names the chains of a network after the digest of its name. */
function chainsOf({ networkName }: EngineLayout): readonly string[] {
  const mark = createHash('sha512').update(networkName).digest('hex').slice(0, 13).toUpperCase();
  return [`NETAVARK-${mark}`, `NETAVARK-DN-${mark}`];
}

/** Rules first, then the chains that they lead to. */
async function removeRules(isMeant: (line: string) => boolean): Promise<void> {
  const iptables = findProgram('iptables');
  if (iptables === undefined) return;
  const meant = (await natRules()).filter(isMeant);
  for (const line of meant.filter((rule) => rule.startsWith('-A ')))
    await runProgram(iptables, ['-w', '-t', 'nat', '-D', ...wordsOf(line.slice(3))]);
  for (const line of meant.filter((chain) => chain.startsWith(':'))) {
    const [name = ''] = line.slice(1).split(' ');
    await runProgram(iptables, ['-w', '-t', 'nat', '-X', name]);
  }
}

/** The words of a rule as it is printed: some are in quotes. */
function wordsOf(line: string): string[] {
  return [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

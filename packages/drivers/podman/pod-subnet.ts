import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { EngineLayout } from './engine-layout.ts';

interface Range {
  readonly first: number;
  readonly last: number;
}

const usualCount = 256;

/** Two directories that look at the same moment see the same free ones: each begins somewhere else. */
export function usualSubnets(directory: string): readonly string[] {
  const begin = createHash('sha256').update(directory).digest().readUInt8();
  return Array.from({ length: usualCount }, (_, index) => `10.42.${(begin + index) % usualCount}.0/24`);
}

/** The network that this directory has already, else the first candidate that is free on this host; `undefined` if none is. */
export async function freeSubnet(
  layout: EngineLayout,
  candidates: readonly string[],
): Promise<string | undefined> {
  const kept = await keptSubnet(layout);
  if (kept !== undefined) return kept;
  const taken = [...routes(await readFile('/proc/net/route', 'utf8')), ...addresses(layout.bridgeName)];
  return candidates.find((candidate) => {
    const range = rangeOf(candidate);
    return taken.every(({ first, last }) => last < range.first || first > range.last);
  });
}

async function keptSubnet(layout: EngineLayout): Promise<string | undefined> {
  try {
    const text = await readFile(join(layout.networks, `${layout.networkName}.json`), 'utf8');
    const network = JSON.parse(text) as { readonly subnets?: readonly { readonly subnet?: string }[] };
    return network.subnets?.[0]?.subnet;
  } catch {
    // Absent, or damaged by a crash of the host: it is chosen anew.
    return undefined;
  }
}

/** All routes of the kernel's table but the one to everywhere. */
function routes(table: string): readonly Range[] {
  return table
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(/\s+/))
    .flatMap(([, destination = '', , , , , , mask = '']) => {
      const first = littleEndian(destination);
      const size = ~littleEndian(mask) >>> 0;
      return littleEndian(mask) === 0 ? [] : [{ first, last: first + size }];
    });
}

function addresses(ownBridge: string): readonly Range[] {
  return Object.entries(networkInterfaces())
    .filter(([name]) => name !== ownBridge)
    .flatMap(([, found = []]) => found)
    .flatMap(({ family, cidr }) => (family === 'IPv4' && cidr !== null ? [rangeOf(cidr)] : []));
}

/** Of IPv4. */
export function rangeOf(subnet: string): Range {
  const [address = '', length = '32'] = subnet.split('/');
  const value = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  const size = 2 ** (32 - Number(length));
  const first = Math.floor(value / size) * size;
  return { first, last: first + size - 1 };
}

function littleEndian(hex: string): number {
  return Number.parseInt(hex.match(/../g)?.toReversed().join('') ?? '0', 16);
}

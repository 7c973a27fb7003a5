import type { ProxiedPort, ProxyBackend } from '@sheaf/ports';
import { digest } from './chain-names.ts';

export interface BackendChoice {
  readonly chain: string;
  readonly protocol: ProxiedPort['protocol'];
  readonly backends: readonly ProxyBackend[];
  /** In seconds. */
  readonly affinity: number | undefined;
}

/** The rules of a chain that sends each new connection to one of them: to where its client was before, else to any with equal chance. */
export function backendRules({ chain, protocol, backends, affinity }: BackendChoice): readonly string[] {
  const match = `-p ${protocol.toLowerCase()}`;
  const isSticky = affinity !== undefined && backends.length > 1;
  const known = backends.map(({ address, port }) => `${chain}-${digest(`${address}:${port}`, 10)}`);
  const again = (name: string | undefined): string =>
    `-m recent --name ${name} --rcheck --seconds ${affinity} --reap --rsource -m recent --name ${name} --set --rsource`;
  const returning = isSticky
    ? backends.map((backend, index) => `${match} ${again(known[index])} ${sendTo(backend)}`)
    : [];
  const chosen = backends.map((backend, index) => {
    const left = backends.length - index;
    const chance = left === 1 ? '' : ` -m statistic --mode random --probability ${(1 / left).toFixed(10)}`;
    const noted = isSticky ? ` -m recent --name ${known[index]} --set --rsource` : '';
    return `${match}${chance}${noted} ${sendTo(backend)}`;
  });
  return [...returning, ...chosen];
}

export function isOnLoopback(address: string): boolean {
  return address.startsWith('127.');
}

function sendTo({ address, port }: ProxyBackend): string {
  return `-j DNAT --to-destination ${address}:${port}`;
}

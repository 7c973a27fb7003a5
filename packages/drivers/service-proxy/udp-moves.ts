import type { ProxiedService } from '@sheaf/ports';
import { findProgram, runProgram } from '../qemu/run-program.ts';

/** Packets of UDP clients that go the same way. */
interface Way {
  /** Where the clients send to. */
  readonly address: string;
  readonly port: string;
  /** Who answers. */
  readonly backend: string;
  readonly backendPort: string;
}

export function findFlowProgram(): string | undefined {
  return findProgram('conntrack');
}

/**
 * The kernel remembers to whom it sends a UDP client for as long as packets come: one that never pauses would be sent to a backend
 * that is gone for ever. Makes it forget all that lead to somebody who is no backend (any more).
 */
export async function moveUdpClients(program: string, services: readonly ProxiedService[]): Promise<void> {
  const wanted = new Map(services.flatMap(udpTargets));
  if (wanted.size === 0) return;
  const { output } = await runProgram(program, ['--dump', '--proto', 'udp']);
  const ways = new Map(
    output
      .split('\n')
      .flatMap(readWay)
      .map((way) => [JSON.stringify(way), way]),
  );
  for (const way of ways.values()) {
    const backends = wanted.get(`${way.address}:${way.port}`) ?? wanted.get(`:${way.port}`);
    if (!backends || backends.has(`${way.backend}:${way.backendPort}`)) continue;
    // One that ended by itself meanwhile is what was wanted.
    await runProgram(program, ['--delete', '--proto', 'udp', ...selection(way)]);
  }
}

/** Ports of this host go by their number alone. */
function udpTargets({
  addresses,
  externalAddresses,
  ports,
}: ProxiedService): readonly (readonly [string, ReadonlySet<string>])[] {
  return ports
    .filter(({ protocol }) => protocol === 'UDP')
    .flatMap(({ port, nodePort, backends, outsideBackends }) => {
      const inside = new Set(backends.map((each) => `${each.address}:${each.port}`));
      const outside = new Set(outsideBackends.map((each) => `${each.address}:${each.port}`));
      return [
        ...addresses.map((address) => [`${address}:${port}`, inside] as const),
        ...externalAddresses.map((address) => [`${address}:${port}`, outside] as const),
        ...(nodePort === undefined ? [] : [[`:${nodePort}`, outside] as const]),
      ];
    });
}

/** First as the client sends, then as it is answered. */
function readWay(line: string): readonly Way[] {
  const all = (name: string): readonly (string | undefined)[] =>
    [...line.matchAll(new RegExp(`\\b${name}=(\\S+)`, 'g'))].map(([, value]) => value);
  const [, backend] = all('src');
  const [, backendPort] = all('sport');
  const [[address], [port]] = [all('dst'), all('dport')];
  const isWhole =
    address !== undefined && port !== undefined && backend !== undefined && backendPort !== undefined;
  return isWhole ? [{ address, port, backend, backendPort }] : [];
}

function selection({ address, port, backend, backendPort }: Way): readonly string[] {
  return [
    '--orig-dst',
    address,
    '--orig-port-dst',
    port,
    '--reply-src',
    backend,
    '--reply-port-src',
    backendPort,
  ];
}

import type { ProxiedService } from '@sheaf/ports';
import { findProgram, runProgram } from '../qemu/run-program.ts';

interface Flow {
  readonly client: string;
  readonly clientPort: string;
  /** Where the client sends to. */
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
  for (const flow of output.split('\n').map(readFlow)) {
    const backends = flow && (wanted.get(`${flow.address}:${flow.port}`) ?? wanted.get(`:${flow.port}`));
    if (!flow || !backends || backends.has(`${flow.backend}:${flow.backendPort}`)) continue;
    // One that ended by itself meanwhile is what was wanted.
    await runProgram(program, ['--delete', '--proto', 'udp', ...selection(flow)]);
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
function readFlow(line: string): Flow | undefined {
  const [client, backend] = [...line.matchAll(/src=(\S+)/g)].map(([, value]) => value);
  const [address] = [...line.matchAll(/dst=(\S+)/g)].map(([, value]) => value);
  const [clientPort, backendPort] = [...line.matchAll(/sport=(\S+)/g)].map(([, value]) => value);
  const [port] = [...line.matchAll(/dport=(\S+)/g)].map(([, value]) => value);
  const parts = [client, clientPort, address, port, backend, backendPort];
  if (parts.some((part) => part === undefined)) return undefined;
  return { client, clientPort, address, port, backend, backendPort } as Flow;
}

function selection({ client, clientPort, address, port }: Flow): readonly string[] {
  return ['--orig-src', client, '--sport', clientPort, '--orig-dst', address, '--dport', port];
}

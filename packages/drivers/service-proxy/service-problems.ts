import type { Capability, ProxiedService, ServiceProblem } from '@sheaf/ports';
import type { ServiceRefused } from './kernel-rules.ts';
import { claimKey } from './port-claims.ts';

/** Ports of the host that somebody else has stay theirs: the Services without them, and who misses one. */
export function withoutTaken(
  services: readonly ProxiedService[],
  taken: ReadonlyMap<string, string>,
): { readonly services: readonly ProxiedService[]; readonly problems: readonly ServiceProblem[] } {
  const problems: ServiceProblem[] = [];
  const left = services.map((service) => ({
    ...service,
    ports: service.ports.map((port) => {
      const { nodePort, ...others } = port;
      const words = nodePort === undefined ? undefined : taken.get(claimKey(port.protocol, nodePort));
      if (words === undefined) return port;
      problems.push({
        serviceId: service.id,
        reason: 'NodePortInUse',
        message: `port ${nodePort} (${port.protocol}) of this host belongs to another program (${words}); the Service is served at its other addresses`,
        wayOut: 'end that program, or choose another nodePort',
      });
      return others;
    }),
  }));
  return { services: left, problems };
}

export function notSticky(
  services: readonly ProxiedService[],
  affinity: Capability,
): readonly ServiceProblem[] {
  if (affinity.isAvailable) return [];
  return services
    .filter(({ affinitySeconds }) => affinitySeconds !== undefined)
    .map(({ id }) => ({
      serviceId: id,
      reason: 'AffinityNotKept',
      message: `clients are not sent to the same pod again: ${affinity.reason}`,
      wayOut: affinity.wayOut ?? '',
    }));
}

export function refused({ serviceId, message }: ServiceRefused): ServiceProblem {
  return {
    serviceId,
    reason: 'RulesRefused',
    message: `the kernel does not take the rules of this Service: ${message}`,
    wayOut: 'see what iptables says; the rules are tried again every few seconds',
  };
}

import type { InstanceSpec, InterfaceSpec } from '../instance-spec.ts';

/** The spec without hardware addresses: another machine gets its own. */
export function withoutAddresses(spec: InstanceSpec): InstanceSpec {
  const { domain } = spec;
  const { interfaces } = domain.devices;
  if (!interfaces) return spec;
  return {
    ...spec,
    domain: { ...domain, devices: { ...domain.devices, interfaces: interfaces.map(withoutAddress) } },
  };
}

function withoutAddress(nic: InterfaceSpec): InterfaceSpec {
  const { macAddress: _, ...rest } = nic;
  return rest;
}

import type { Service } from '@sheaf/api/workload/index';

/** Where Services are, as variables: `NAME_SERVICE_HOST`, `NAME_SERVICE_PORT`, and the forms that Docker links had. */
export function serviceEnvironment(services: readonly Service[]): Readonly<Record<string, string>> {
  const values: Record<string, string> = {};
  for (const { metadata, spec } of services.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)))) {
    const { clusterIP, ports = [] } = spec;
    const [first] = ports;
    if (!clusterIP || clusterIP === 'None' || !first) continue;
    const prefix = (metadata.name ?? '').toUpperCase().replaceAll('-', '_');
    values[`${prefix}_SERVICE_HOST`] = clusterIP;
    values[`${prefix}_SERVICE_PORT`] = String(first.port);
    values[`${prefix}_PORT`] = urlOf(first, clusterIP);
    for (const port of ports) {
      if (port.name)
        values[`${prefix}_SERVICE_PORT_${port.name.toUpperCase().replaceAll('-', '_')}`] = String(port.port);
      const link = `${prefix}_PORT_${port.port}_${protocolOf(port).toUpperCase()}`;
      values[link] = urlOf(port, clusterIP);
      values[`${link}_PROTO`] = protocolOf(port);
      values[`${link}_PORT`] = String(port.port);
      values[`${link}_ADDR`] = clusterIP;
    }
  }
  return values;
}

type Port = NonNullable<Service['spec']['ports']>[number];

function protocolOf({ protocol }: Port): string {
  return (protocol ?? 'TCP').toLowerCase();
}

function urlOf(port: Port, address: string): string {
  return `${protocolOf(port)}://${address}:${port.port}`;
}

function nameOf({ metadata }: Service): string {
  return metadata.name ?? '';
}

import { isJsonObject, type JsonValue } from '@sheaf/base';

/** What the agent inside the guest says. */
export interface GuestReport {
  readonly os?: GuestOs | undefined;
  readonly interfaces?: readonly GuestInterface[] | undefined;
}

export interface GuestOs {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly prettyName?: string | undefined;
  readonly version?: string | undefined;
  readonly versionId?: string | undefined;
  readonly kernelRelease?: string | undefined;
  readonly kernelVersion?: string | undefined;
  readonly machine?: string | undefined;
}

export interface GuestInterface {
  readonly name: string;
  readonly mac: string;
  readonly ips: readonly string[];
}

/** Reads the answer to `guest-get-osinfo`; a guest may answer anything. */
export function readGuestOs(answer: unknown): GuestOs | undefined {
  if (!isJsonObject(answer)) return undefined;
  const text = (name: string): string | undefined => {
    const value = answer[name];
    return typeof value === 'string' && value !== '' ? value.slice(0, maxText) : undefined;
  };
  return {
    id: text('id'),
    name: text('name'),
    prettyName: text('pretty-name'),
    version: text('version'),
    versionId: text('version-id'),
    kernelRelease: text('kernel-release'),
    kernelVersion: text('kernel-version'),
    machine: text('machine'),
  };
}

/** Reads the answer to `guest-network-get-interfaces`; the loopback and link-local addresses are of no use to anyone. */
export function readGuestInterfaces(answer: unknown): readonly GuestInterface[] {
  if (!Array.isArray(answer)) return [];
  return answer.slice(0, maxInterfaces).flatMap((item: JsonValue) => {
    if (!isJsonObject(item)) return [];
    const { name, 'hardware-address': mac } = item;
    if (typeof name !== 'string' || typeof mac !== 'string' || /^00(:00){5}$/.test(mac)) return [];
    return [{ name: name.slice(0, maxText), mac: mac.toLowerCase(), ips: addressesOf(item['ip-addresses']) }];
  });
}

/** A guest is not trusted: what it says must fit into a status. */
const maxText = 256;
const maxInterfaces = 64;
const maxAddresses = 32;

function addressesOf(value: JsonValue | undefined): readonly string[] {
  if (!Array.isArray(value)) return [];
  return value
    .slice(0, maxAddresses)
    .flatMap((entry) => {
      const address = isJsonObject(entry) ? entry['ip-address'] : undefined;
      return typeof address === 'string' && /^[0-9a-fA-F.:]{2,45}$/.test(address) ? [address] : [];
    })
    .filter((address) => !/^(fe80:|169\.254\.|127\.|::1$)/i.test(address));
}

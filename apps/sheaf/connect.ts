import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import { Client, httpTransport, KubeconfigError, readKubeconfig } from '@sheaf/client';
import { statusPath } from './status-path-name.ts';

/** Calls `use` with a client of the server of a data directory. @throws KubeconfigError, StatusError, Error */
export async function withClient<T>(dataDir: string, use: (client: Client) => Promise<T>): Promise<T> {
  const path = join(dataDir, 'kubeconfig');
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new KubeconfigError(`${path} cannot be read`, { cause });
  });
  const transport = httpTransport(readKubeconfig(text));
  try {
    return await use(new Client({ transport, userAgent: 'sheaf' }));
  } finally {
    transport.close();
  }
}

/** One controller as the server tells of it. */
export interface ControllerReport {
  readonly name: string;
  readonly passes: number;
  readonly failures: number;
  readonly queueDepth: number;
  readonly failingCount: number;
  readonly failing: readonly { readonly key: string; readonly message: string }[];
}

/** Something that the host can or cannot do. */
export interface CapabilityReport {
  readonly name: string;
  readonly isAvailable: boolean;
  readonly reason: string;
  readonly wayOut?: string;
}

export interface ServerReport {
  readonly version: string;
  readonly checks: readonly { readonly name: string; readonly reason?: string }[];
  readonly store: Readonly<Record<string, number>>;
  readonly certificates: readonly { readonly name: string; readonly notAfter: string }[];
  readonly objects: Readonly<Record<string, number>>;
  readonly controllers: readonly ControllerReport[];
  readonly capabilities: readonly CapabilityReport[];
}

export async function readReport(client: Client): Promise<ServerReport> {
  return (await client.raw(statusPath)) as unknown as ServerReport;
}

/** The value at a path of fields; `undefined` where there is none. */
export function at(value: unknown, ...path: readonly string[]): unknown {
  let found: unknown = value;
  for (const field of path) found = isJsonObject(found) ? found[field] : undefined;
  return found;
}

export function listAt(value: unknown, ...path: readonly string[]): JsonObject[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found.filter((item) => isJsonObject(item)) : [];
}

export function textAt(value: unknown, ...path: readonly string[]): string {
  const found = at(value, ...path);
  return typeof found === 'string' ? found : '';
}

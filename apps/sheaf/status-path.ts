import { X509Certificate } from 'node:crypto';
import type { OpenApiServer } from '@sheaf/apiserver';
import type { ServerCertificates } from '@sheaf/apiserver/certificates/index';
import { type HealthChecks, runCheck } from '@sheaf/apiserver/health/index';
import type { PathHandler } from '@sheaf/apiserver/pipeline/path-handler';
import type { Clock, JsonObject } from '@sheaf/base';
import type { Controller } from '@sheaf/runtime';
import type { Store } from '@sheaf/store';
import type { NamedCapability } from './machine-host.ts';
import { statusPath } from './status-path-name.ts';
import { serverVersion } from './version.ts';

export { statusPath } from './status-path-name.ts';

/** What the status is made of; parts come as they start. */
export interface StatusParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly health: HealthChecks;
  server?: OpenApiServer;
  certificates?: ServerCertificates;
  controllers?: () => readonly Controller[];
  /** Why kinds are not served, by the name of their definition. */
  unservedKinds?: ReadonlyMap<string, string>;
  /** What the host can do. */
  capabilities?: () => Promise<readonly NamedCapability[]>;
}

const failingShown = 20;

/** `GET /sheaf/v1/status`: what `sheaf status` shows, as JSON. */
export function statusHandler(parts: StatusParts): PathHandler {
  return ({ info }) => {
    if (info.path !== statusPath) return undefined;
    return status(parts).then((document) => ({
      status: 200,
      headers: { 'content-type': 'application/json' },
      body: { kind: 'bytes', chunks: [Buffer.from(JSON.stringify(document))] },
    }));
  };
}

async function status(parts: StatusParts): Promise<JsonObject> {
  const { store, health, server } = parts;
  const [size, checks, capabilities] = await Promise.all([
    store.size(),
    Promise.all(health.of('readyz').map(runCheck)),
    parts.capabilities?.() ?? [],
  ]);
  return {
    version: serverVersion().sheaf,
    checks: checks.map((check) => ({ ...check })),
    store: { revision: store.revision, compactedRevision: store.compactedRevision, ...size },
    certificates: certificatesOf(parts),
    objects: server ? objectsOf(server) : {},
    controllers: (parts.controllers?.() ?? []).map(controllerStatus),
    capabilities: capabilities.map((capability) => ({ ...capability })),
  };
}

function objectsOf({ stores }: OpenApiServer): JsonObject {
  const counts: Record<string, number> = {};
  for (const { group, plural, size, isLoaded } of stores.all())
    if (isLoaded && size > 0) counts[group === '' ? plural : `${plural}.${group}`] = size;
  return counts;
}

function controllerStatus({ name, counts }: Controller): JsonObject {
  const { passes, failures, queueDepth, failing } = counts;
  const shown = [...failing].slice(0, failingShown).map(([key, message]) => ({ key, message }));
  return { name, passes, failures, queueDepth, failing: shown, failingCount: failing.size };
}

function certificatesOf({ certificates }: StatusParts): { name: string; notAfter: string }[] {
  if (!certificates) return [];
  const { serving, admin, frontProxyClient, authority } = certificates;
  const all = { serving, admin, 'front-proxy-client': frontProxyClient, authority };
  return Object.entries(all).map(([name, { certificatePem }]) => ({
    name,
    notAfter: new X509Certificate(certificatePem).validToDate.toISOString(),
  }));
}

/** For readiness: clients could not connect. */
export function certificateCheck(parts: StatusParts): string | undefined {
  const now = parts.clock.now();
  const expired = certificatesOf(parts).filter(({ notAfter }) => Date.parse(notAfter) <= now);
  if (expired.length === 0) return undefined;
  return `expired: ${expired.map(({ name }) => name).join(', ')}; restart the server to renew them`;
}

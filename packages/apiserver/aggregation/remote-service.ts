import { asJson, type KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { ServiceReference, ServiceTarget } from '../upstream/service-targets.ts';
import type { UpstreamTarget } from '../upstream/upstream.ts';

/** What an APIService with a service says: who serves a group version, and how to trust it. */
export interface RemoteService {
  readonly name: string;
  readonly group: string;
  readonly version: string;
  readonly service: ServiceReference;
  /** PEM. */
  readonly authority: string | undefined;
  readonly insecureSkipTlsVerify: boolean;
}

/** `undefined` for local ones. */
export function readRemoteService(object: KubeObject): RemoteService | undefined {
  const spec = asJson(object)['spec'];
  if (!isJsonObject(spec) || !isJsonObject(spec['service'])) return undefined;
  const { service } = spec;
  const bundle = textOf(spec['caBundle']);
  return {
    name: object.metadata.name ?? '',
    group: textOf(spec['group']),
    version: textOf(spec['version']),
    service: {
      namespace: textOf(service['namespace']),
      name: textOf(service['name']),
      port: typeof service['port'] === 'number' ? service['port'] : 443,
    },
    authority: bundle === '' ? undefined : Buffer.from(bundle, 'base64').toString('utf8'),
    insecureSkipTlsVerify: spec['insecureSkipTLSVerify'] === true,
  };
}

export function targetOf(
  remote: RemoteService,
  place: Extract<ServiceTarget, { host: string }>,
): UpstreamTarget {
  const { authority, insecureSkipTlsVerify, service } = remote;
  return {
    ...place,
    serverName: `${service.name}.${service.namespace}.svc`,
    authority,
    insecureSkipTlsVerify,
  };
}

export interface Availability {
  readonly isAvailable: boolean;
  readonly reason: string;
  readonly message: string;
}

/** The service with its Available condition; itself if the condition says so already. */
export function withAvailability(object: KubeObject, availability: Availability, now: string): KubeObject {
  const old = asJson(object)['status'];
  const conditions = conditionsOf(old);
  const known = conditions.find((item) => item['type'] === 'Available');
  const status = availability.isAvailable ? 'True' : 'False';
  const { reason, message } = availability;
  const isSame = known?.['status'] === status;
  if (isSame && known['reason'] === reason && known['message'] === message) return object;
  const lastTransitionTime = isSame ? (known['lastTransitionTime'] ?? now) : now;
  const condition: JsonObject = { type: 'Available', status, lastTransitionTime, reason, message };
  const others = conditions.filter((item) => item !== known);
  return { ...object, status: { ...(isJsonObject(old) ? old : {}), conditions: [...others, condition] } };
}

function conditionsOf(status: JsonValue | undefined): JsonObject[] {
  const conditions = isJsonObject(status) ? status['conditions'] : undefined;
  return Array.isArray(conditions) ? conditions.filter((item) => isJsonObject(item)) : [];
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

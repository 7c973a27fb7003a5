import type { JsonObject } from '@sheaf/base';
import { asJson, type KubeObject } from '../../meta/object.ts';
import {
  ensureAt,
  ensureSpec,
  fill,
  fillText,
  listAt,
  numberAt,
  objectAt,
  specOf,
  textAt,
} from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { isExternallyAccessible, validateService, validateServiceUpdate } from './service-validation.ts';
import { serviceWarnings } from './service-warnings.ts';

const clientIpSeconds = 10_800;

export const serviceRules: KindRules = {
  nameRule: 'dns-label',
  allowsCreateOnUpdate: true,
  applyDefaults: defaultService,
  prepareForUpdate: keepAllocated,
  validateCreate: validateService,
  validateUpdate: validateServiceUpdate,
  warnings: serviceWarnings,
  selectableFields: (service) => ({
    'spec.clusterIP': textAt(specOf(service), 'clusterIP'),
    'spec.type': textAt(specOf(service), 'type'),
  }),
};

function defaultService(service: KubeObject): void {
  const spec = ensureSpec(service);
  fillText(spec, 'sessionAffinity', 'None');
  defaultAffinity(spec);
  fillText(spec, 'type', 'ClusterIP');
  const type = textAt(spec, 'type');
  for (const port of listAt(spec, 'ports')) defaultPort(port);
  if (isExternallyAccessible(spec)) fillText(spec, 'externalTrafficPolicy', 'Cluster');
  if (type === 'NodePort' || type === 'LoadBalancer' || type === 'ClusterIP')
    fill(spec, 'internalTrafficPolicy', 'Cluster');
  if (type === 'LoadBalancer') {
    fill(spec, 'allocateLoadBalancerNodePorts', true);
    defaultIngress(service);
  }
}

function defaultAffinity(spec: JsonObject): void {
  const affinity = textAt(spec, 'sessionAffinity');
  if (affinity === 'None') delete spec['sessionAffinityConfig'];
  if (affinity !== 'ClientIP') return;
  const client = objectAt(objectAt(spec, 'sessionAffinityConfig') ?? {}, 'clientIP');
  if (client === undefined || numberAt(client, 'timeoutSeconds') === undefined)
    spec['sessionAffinityConfig'] = { clientIP: { timeoutSeconds: clientIpSeconds } };
}

function defaultPort(port: JsonObject): void {
  fillText(port, 'protocol', 'TCP');
  if (!port['targetPort']) port['targetPort'] = numberAt(port, 'port') ?? 0;
}

function defaultIngress(service: KubeObject): void {
  const status = ensureAt(asJson(service), 'status');
  for (const ingress of listAt(ensureAt(status, 'loadBalancer'), 'ingress')) {
    if (textAt(ingress, 'ip')) fill(ingress, 'ipMode', 'VIP');
  }
}

const allocated = ['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy', 'healthCheckNodePort'] as const;

/** Who leaves out what was allocated keeps it, unless the service becomes a mere name. */
function keepAllocated(next: KubeObject, old: KubeObject): void {
  const [spec, kept] = [ensureSpec(next), specOf(old)];
  if (textAt(spec, 'type') === 'ExternalName' || textAt(kept, 'type') === 'ExternalName') return;
  for (const field of allocated) {
    const value = kept[field];
    if (value !== undefined && !spec[field]) spec[field] = value;
  }
  keepNodePorts(spec, kept);
}

function keepNodePorts(spec: JsonObject, kept: JsonObject): void {
  const type = textAt(spec, 'type');
  if (type !== 'NodePort' && type !== 'LoadBalancer') return;
  for (const port of listAt(spec, 'ports')) {
    if (port['nodePort']) continue;
    const same = listAt(kept, 'ports').find(
      (item) => item['port'] === port['port'] && item['protocol'] === (port['protocol'] ?? 'TCP'),
    );
    if (same?.['nodePort'] !== undefined) port['nodePort'] = same['nodePort'];
  }
}

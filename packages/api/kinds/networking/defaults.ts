import type { KubeObject } from '../../meta/object.ts';
import { ensureSpec, fill, listAt, objectAt, specOf, textsAt } from '../fields.ts';

export function defaultNetworkPolicy(policy: KubeObject): void {
  const spec = ensureSpec(policy);
  for (const direction of ['ingress', 'egress'] as const) {
    for (const rule of listAt(spec, direction)) {
      for (const port of listAt(rule, 'ports')) fill(port, 'protocol', 'TCP');
    }
  }
  if (textsAt(spec, 'policyTypes').length > 0) return;
  spec['policyTypes'] = listAt(spec, 'egress').length > 0 ? ['Ingress', 'Egress'] : ['Ingress'];
}

export function defaultIngressClass(ingressClass: KubeObject): void {
  const parameters = objectAt(specOf(ingressClass), 'parameters');
  if (parameters !== undefined) fill(parameters, 'scope', 'Cluster');
}

import { jsonEqual } from '@sheaf/base';
import { type FieldError, invalid } from '../../meta/field-error.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { fill, listAt, specOf, textAt, textsAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { defaultIngressClass, defaultNetworkPolicy } from './defaults.ts';
import { validateNetworkPolicy } from './network-policy-validation.ts';
import {
  validateEndpointSlice,
  validateEndpointSliceUpdate,
  validateIngress,
  validateIngressClass,
  validateIngressClassUpdate,
  validateIpAddress,
  validateServiceCidr,
} from './validation.ts';

const classAnnotation = 'kubernetes.io/ingress.class';

export const networkingRules: Readonly<Record<string, KindRules>> = {
  'networking.k8s.io/Ingress': {
    tracksGeneration: true,
    validateCreate: (ingress) => [...validateIngress(ingress), ...bothClasses(ingress)],
    validateUpdate: validateIngress,
    warnings: ingressWarnings,
  },
  'networking.k8s.io/IngressClass': {
    tracksGeneration: true,
    applyDefaults: defaultIngressClass,
    validateCreate: validateIngressClass,
    validateUpdate: validateIngressClassUpdate,
  },
  'networking.k8s.io/NetworkPolicy': {
    tracksGeneration: true,
    applyDefaults: defaultNetworkPolicy,
    validateCreate: validateNetworkPolicy,
    validateUpdate: validateNetworkPolicy,
  },
  'networking.k8s.io/IPAddress': {
    validateCreate: validateIpAddress,
    validateUpdate: (next, old) =>
      jsonEqual(specOf(next), specOf(old))
        ? []
        : [invalid('spec.parentRef', specOf(next)['parentRef'] ?? null, 'field is immutable')],
    selectableFields: (address) => {
      const parent = specOf(address)['parentRef'] as Record<string, string> | undefined;
      return {
        'spec.parentRef.group': parent?.['group'] ?? '',
        'spec.parentRef.resource': parent?.['resource'] ?? '',
        'spec.parentRef.namespace': parent?.['namespace'] ?? '',
        'spec.parentRef.name': parent?.['name'] ?? '',
      };
    },
  },
  'networking.k8s.io/ServiceCIDR': {
    validateCreate: validateServiceCidr,
    validateUpdate: cidrsStay,
  },
  'discovery.k8s.io/EndpointSlice': {
    tracksGeneration: true,
    applyDefaults(slice) {
      for (const port of listAt(asJson(slice), 'ports')) {
        fill(port, 'name', '');
        fill(port, 'protocol', 'TCP');
      }
    },
    validateCreate: validateEndpointSlice,
    validateUpdate: validateEndpointSliceUpdate,
    warnings: (slice) =>
      slice['addressType'] === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
  },
};

function cidrsStay(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [given, kept] = [textsAt(specOf(next), 'cidrs'), textsAt(specOf(old), 'cidrs')];
  const isSame = kept.every((network, at) => given[at] === network) && given.length >= kept.length;
  return isSame
    ? validateServiceCidr(next)
    : [invalid('spec.cidrs[0]', given[0] ?? null, 'field is immutable')];
}

function bothClasses(ingress: KubeObject): readonly FieldError[] {
  const annotation = ingress.metadata.annotations?.[classAnnotation];
  const given = textAt(specOf(ingress), 'ingressClassName');
  if (annotation === undefined || given === '' || annotation === given) return [];
  return [
    invalid(
      `metadata.annotations[${classAnnotation}]`,
      annotation,
      'must match `ingressClassName` when both are specified',
    ),
  ];
}

function ingressWarnings(next: KubeObject): readonly string[] {
  if (next.metadata.annotations?.[classAnnotation] === undefined) return [];
  return [`annotation "${classAnnotation}" is deprecated, please use 'spec.ingressClassName' instead`];
}

import type { KubeObject } from '../../meta/object.ts';
import { specOf, textAt, textsAt } from '../fields.ts';

const hints = 'service.kubernetes.io/topology-aware-hints';

export function serviceWarnings(service: KubeObject): readonly string[] {
  const warnings: string[] = [];
  const spec = specOf(service);
  const isHeadless = textAt(spec, 'clusterIP') === 'None';
  if (service.metadata.annotations?.[hints] !== undefined)
    warnings.push(
      `annotation ${hints} is deprecated, please use service.kubernetes.io/topology-mode instead`,
    );
  if (isHeadless) warnings.push(...headlessWarnings(service));
  warnings.push(...externalWarnings(service));
  if (spec['trafficDistribution'] === 'PreferClose')
    warnings.push('spec.trafficDistribution: "PreferClose" is deprecated; use "PreferSameZone"');
  return warnings;
}

function externalWarnings(service: KubeObject): string[] {
  const warnings: string[] = [];
  const spec = specOf(service);
  const type = textAt(spec, 'type');
  const isHeadless = textAt(spec, 'clusterIP') === 'None';
  const hasExternal = textsAt(spec, 'externalIPs').length > 0;
  if (hasExternal && !isHeadless && type !== 'ExternalName')
    warnings.push('spec.externalIPs is deprecated and may no longer be implemented in some clusters');
  if (hasExternal && type === 'ExternalName')
    warnings.push('spec.externalIPs is ignored when spec.type is "ExternalName"');
  if (type !== 'ExternalName' && textAt(spec, 'externalName') !== '')
    warnings.push('spec.externalName is ignored when spec.type is not "ExternalName"');
  return warnings;
}

function headlessWarnings(service: KubeObject): string[] {
  const warnings: string[] = [];
  const spec = specOf(service);
  if (textAt(spec, 'loadBalancerIP') !== '')
    warnings.push('spec.loadBalancerIP is ignored for headless services');
  if (textsAt(spec, 'externalIPs').length > 0)
    warnings.push('spec.externalIPs is ignored for headless services');
  if (textAt(spec, 'sessionAffinity') !== 'None')
    warnings.push('spec.SessionAffinity is ignored for headless services');
  return warnings;
}

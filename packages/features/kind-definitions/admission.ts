import { type AdmissionRule, type AdmissionVerdict, allow, deny, type KubeObject } from '@sheaf/api';
import type { KindDefinition } from '@sheaf/api/virtualization/kind-definitions';

/** With the definition's own name as its value, a definition may be deleted. */
export const confirmationAnnotation = 'sheaf.dev/confirm-deletion';

/** Keeps a definition from being deleted by accident: every object of its kind would go with it. */
export function protection(definitions: readonly KindDefinition[]): AdmissionRule {
  const kinds = new Map(definitions.map(({ name, spec }) => [name, String(spec.names['kind'])]));
  return {
    name: 'kind-definitions',
    targets: [{ group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' }],
    operations: ['DELETE'],
    validate: (_object, old) => verdict(old, kinds),
  };
}

function verdict(old: KubeObject | undefined, kinds: ReadonlyMap<string, string>): AdmissionVerdict {
  const name = old?.metadata.name ?? '';
  const kind = kinds.get(name);
  if (kind === undefined || old?.metadata.annotations?.[confirmationAnnotation] === name) return allow();
  return deny({
    reason: 'Forbidden',
    message: `${name} defines a kind of Sheaf's own: with it, every ${kind} would be deleted, and it would be made again empty`,
    wayOut: `If that is what you want, run \`kubectl annotate crd ${name} ${confirmationAnnotation}=${name}\` first.`,
  });
}

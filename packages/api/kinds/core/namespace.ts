import type { FieldError } from '../../meta/field-error.ts';
import { invalid } from '../../meta/field-error.ts';
import { qualifiedNameErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { pushInvalid } from '../checks.ts';
import { ensureAt, ensureSpec, fieldsAt, fillText, specOf, textAt, textsAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';

const own = 'kubernetes';

export const namespaceRules: KindRules = {
  nameRule: 'dns-label',
  applyDefaults(namespace) {
    const { metadata } = namespace;
    if (metadata.name) {
      metadata.labels ??= {};
      metadata.labels['kubernetes.io/metadata.name'] = metadata.name;
    }
    ensureSpec(namespace);
    fillText(ensureAt(asJson(namespace), 'status'), 'phase', 'Active');
  },
  prepareForCreate(namespace) {
    const spec = ensureSpec(namespace);
    const finalizers = textsAt(spec, 'finalizers');
    if (!finalizers.includes(own)) spec['finalizers'] = [...finalizers, own];
    asJson(namespace)['status'] = { phase: 'Active' };
  },
  prepareForUpdate(next, old) {
    const kept = specOf(old)['finalizers'];
    if (kept === undefined) delete ensureSpec(next)['finalizers'];
    else ensureSpec(next)['finalizers'] = kept;
  },
  validateCreate: (namespace) => finalizerErrors(namespace),
  selectableFields: (namespace) => ({
    'status.phase': textAt(fieldsAt(asJson(namespace), 'status'), 'phase'),
    name: namespace.metadata.name ?? '',
  }),
};

function finalizerErrors(namespace: KubeObject): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of textsAt(specOf(namespace), 'finalizers')) {
    pushInvalid(errors, { field: 'spec.finalizers', value: name }, qualifiedNameErrors(name));
    if (!name.includes('/') && name !== own) {
      errors.push(
        invalid(
          'spec.finalizers',
          name,
          'name is neither a standard finalizer name nor is it fully qualified',
        ),
      );
    }
  }
  return errors;
}

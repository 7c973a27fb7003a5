import {
  type AdmissionContext,
  type AdmissionMutation,
  type AdmissionObjects,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  deny,
  type RequestUser,
  replaceWith,
} from '@sheaf/api';
import type { VirtualMachineTemplate, VirtualMachineTemplateVersion } from '@sheaf/api/virtualization/index';
import type { Random } from '@sheaf/base';
import { claimsAnnotation, readClaims } from './plan.ts';
import { parseReference, type Reference, referenceTo } from './references.ts';

const templates = { group: 'harvesterhci.io', resource: 'virtualmachinetemplates' };
const versions = { group: 'harvesterhci.io', resource: 'virtualmachinetemplateversions' };
const keyPairs = { group: 'harvesterhci.io', resource: 'keypairs' };
/** Neither vowels nor what looks like another: no words come about. */
const letters = 'bcdfghjklmnpqrstvwxz2456789';
const suffixLength = 5;
const longestName = 63;
const limitsField = 'spec.vm.spec.template.spec.domain.resources.limits';

/** What versions of templates may be. They are made and deleted, never changed. */
export const versionRule: AdmissionRule = {
  name: 'vm-template-version',
  targets: [versions],
  operations: ['CREATE', 'UPDATE', 'DELETE'],
  reads: [templates, keyPairs],
  mutate: (object, _, { operation, random }) =>
    operation === 'CREATE' ? named(object as VirtualMachineTemplateVersion | undefined, random) : allow(),
  validate(object, old, context) {
    if (object && !old) return creation(object as VirtualMachineTemplateVersion, context.objects);
    if (isController(context.user)) return allow();
    return object ? change() : deletion(old as VirtualMachineTemplateVersion | undefined, context);
  },
};

/** Tells whoever chooses a default version that is not there. */
export const templateRule: AdmissionRule = {
  name: 'vm-template',
  targets: [templates],
  operations: ['CREATE', 'UPDATE'],
  reads: [versions],
  validate(object, old, { objects }) {
    const chosen = defaultOf(object);
    if (!chosen || chosen === defaultOf(old)) return allow();
    const reference = parseReference(chosen);
    return reference && objects.find(versions, reference)
      ? allow()
      : allow(`there is no version ${chosen} yet: the template has no default until it is made`);
  },
};

function defaultOf(template: VirtualMachineTemplate | undefined): string | undefined {
  return template?.spec?.defaultVersionId;
}

/** Controllers number versions, own them and take them away with their template. */
function isController({ name }: RequestUser): boolean {
  return name === 'system:kube-controller-manager' || name === 'system:apiserver';
}

/** One that comes without a name is called after its template. */
function named(version: VirtualMachineTemplateVersion | undefined, random: Random): AdmissionMutation {
  // The schema has not been looked at yet: what it requires may be missing.
  const spec = version?.spec as Partial<VirtualMachineTemplateVersion['spec']> | undefined;
  const template = parseReference(spec?.templateId)?.name;
  if (!version || template === undefined || version.metadata.name) return allow();
  const suffix = Array.from({ length: suffixLength }, () => letters[random.integer(letters.length)]).join('');
  const prefix = `${template.slice(0, longestName - suffixLength - 1)}-`;
  return replaceWith({
    ...version,
    metadata: { ...version.metadata, generateName: prefix, name: `${prefix}${suffix}` },
  });
}

function creation(version: VirtualMachineTemplateVersion, objects: AdmissionObjects): AdmissionVerdict {
  const wrong =
    templateProblem(version, objects) ??
    keyPairProblem(version, objects) ??
    claimProblem(version) ??
    limitProblem(version);
  if (!wrong) return allow();
  const { field, message, wayOut } = wrong;
  const causes = [{ reason: 'FieldValueInvalid', field, message }];
  return deny({ reason: 'Invalid', message: `${field}: ${message}`, wayOut, causes });
}

interface Problem {
  readonly field: string;
  readonly message: string;
  readonly wayOut: string;
}

function templateProblem(
  { metadata, spec }: VirtualMachineTemplateVersion,
  objects: AdmissionObjects,
): Problem | undefined {
  const field = 'spec.templateId';
  const reference = parseReference(spec.templateId);
  if (!reference)
    return {
      field,
      message: spec.templateId ? `${spec.templateId} is no reference` : 'the template is missing',
      wayOut: 'Write NAMESPACE/NAME of the template that this is a version of.',
    };
  if (reference.namespace !== metadata.namespace)
    return {
      field: 'metadata.namespace',
      message: `the template is in the namespace ${reference.namespace}`,
      wayOut: 'Make the version in the namespace of its template.',
    };
  if (objects.find(templates, reference)) return undefined;
  return { field, message: `there is no template ${spec.templateId}`, wayOut: 'Make the template first.' };
}

function keyPairProblem(
  { spec }: VirtualMachineTemplateVersion,
  objects: AdmissionObjects,
): Problem | undefined {
  const exists = (reference: Reference | undefined): boolean =>
    reference !== undefined && objects.find(keyPairs, reference) !== undefined;
  const ids = spec.keyPairIds ?? [];
  const index = ids.findIndex((id) => !exists(parseReference(id)));
  if (index < 0) return undefined;
  return {
    field: `spec.keyPairIds[${index}]`,
    message: `there is no key pair ${ids[index]}`,
    wayOut: 'Write NAMESPACE/NAME of a KeyPair, or make it first.',
  };
}

function claimProblem({ spec }: VirtualMachineTemplateVersion): Problem | undefined {
  if (readClaims(spec.vm?.metadata?.annotations?.[claimsAnnotation])) return undefined;
  return {
    field: `spec.vm.metadata.annotations[${claimsAnnotation}]`,
    message: 'it is no JSON list of PersistentVolumeClaims',
    wayOut: 'Correct it, or leave it out.',
  };
}

/** Without limits nothing says how large the machine is. */
function limitProblem({ spec }: VirtualMachineTemplateVersion): Problem | undefined {
  const template = spec.vm?.spec?.template;
  if (!template) return undefined;
  const limits = template.spec?.domain.resources?.limits ?? {};
  const missing = ['cpu', 'memory'].filter((resource) => limits[resource] === undefined);
  if (missing.length === 0) return undefined;
  return {
    field: limitsField,
    message: `limits of ${missing.join(' and ')} are missing`,
    wayOut: 'Give both, such as {cpu: 1, memory: 2Gi}.',
  };
}

function change(): AdmissionVerdict {
  return deny({
    reason: 'MethodNotAllowed',
    message: 'versions of templates do not change: machines were made from them',
    wayOut: 'Make another version, and make it the default of the template if you like.',
  });
}

function deletion(
  version: VirtualMachineTemplateVersion | undefined,
  { objects }: AdmissionContext,
): AdmissionVerdict {
  const reference = parseReference(version?.spec.templateId);
  const template = reference && objects.find(templates, reference);
  const isDefault =
    version !== undefined &&
    template?.metadata.deletionTimestamp === undefined &&
    defaultOf(template) === referenceTo(version);
  if (!isDefault) return allow();
  return deny({
    reason: 'BadRequest',
    message: `it is the default version of the template ${version.spec.templateId}`,
    wayOut:
      'Make another version the default first (spec.defaultVersionId of the template), or delete the template.',
  });
}

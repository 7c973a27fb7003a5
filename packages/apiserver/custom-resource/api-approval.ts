import { type FieldError, required } from '@sheaf/api';
import type { Definition, DefinitionCondition } from './definition.ts';
import { invalidValue } from './field-errors.ts';
import { goQuote } from './go-text.ts';

const annotation = 'api-approved.kubernetes.io';
const document = 'see https://github.com/kubernetes/enhancements/pull/1111';

/** Groups that belong to the Kubernetes community. */
export function isProtectedGroup(group: string): boolean {
  return ['k8s.io', 'kubernetes.io'].some((domain) => group === domain || group.endsWith(`.${domain}`));
}

interface Approval {
  readonly state: 'missing' | 'bypassed' | 'approved' | 'invalid';
  readonly reason: string;
}

function readApproval(definition: Definition): Approval {
  const value = definition.annotations[annotation] ?? '';
  if (value === '') {
    const reason = `protected groups must have approval annotation ${goQuote(annotation)}, ${document}`;
    return { state: 'missing', reason };
  }
  if (value.startsWith('unapproved')) return { state: 'bypassed', reason: `not approved: ${goQuote(value)}` };
  if (/^[a-zA-Z][a-zA-Z0-9+.-]*:\/\/[^/?#\s]+/.test(value) && URL.canParse(value)) {
    return { state: 'approved', reason: `approved in ${value}` };
  }
  const reason = `protected groups must have approval annotation ${goQuote(annotation)} with either a URL or a reason starting with "unapproved", ${document}`;
  return { state: 'invalid', reason };
}

/** Definitions in protected groups need an approval; one that never had it may go on without. */
export function validateApproval(definition: Definition, old: Definition | undefined): readonly FieldError[] {
  if (!isProtectedGroup(definition.group)) return [];
  const approval = readApproval(definition);
  if (old !== undefined && readApproval(old).state === approval.state) return [];
  const field = `metadata.annotations[${annotation}]`;
  if (approval.state === 'missing') return [required(field, approval.reason)];
  if (approval.state !== 'invalid') return [];
  return [invalidValue(field, definition.annotations[annotation], approval.reason)];
}

/** The condition that tells of the approval; nothing outside protected groups. */
export function approvalCondition(definition: Definition): DefinitionCondition | undefined {
  if (!isProtectedGroup(definition.group)) return undefined;
  const { state, reason } = readApproval(definition);
  const reasons: Readonly<Record<Approval['state'], string>> = {
    missing: 'MissingAnnotation',
    invalid: 'InvalidAnnotation',
    approved: 'ApprovedAnnotation',
    bypassed: 'UnapprovedAnnotation',
  };
  return {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: state === 'approved' ? 'True' : 'False',
    reason: reasons[state],
    message: reason,
  };
}

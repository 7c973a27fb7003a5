import type { LabelSelector } from '@sheaf/api';
import { ageCell, type CellSource, type CellSources, countOf, nameOf, or, shaped } from './cell-source.ts';
import { selectorDump } from './label-cells.ts';

interface Policy {
  readonly spec?: {
    readonly validations?: readonly unknown[] | null;
    readonly mutations?: readonly unknown[] | null;
    readonly paramKind?: { readonly apiVersion?: string; readonly kind?: string } | null;
  };
}

interface PolicyBinding {
  readonly spec?: {
    readonly policyName?: string;
    readonly paramRef?: {
      readonly name?: string;
      readonly namespace?: string;
      readonly selector?: LabelSelector | null;
    } | null;
  };
}

const webhookCells: CellSource = (object, now) => {
  const { webhooks } = shaped<{ readonly webhooks?: readonly unknown[] | null }>(object);
  return [nameOf(object), countOf(webhooks), ageCell(object, now)];
};

const policyCells: CellSource = (object, now) => {
  const { spec } = shaped<Policy>(object);
  const kind = spec?.paramKind;
  return [
    nameOf(object),
    countOf(spec?.validations ?? spec?.mutations),
    kind ? `${or(kind.apiVersion, '')}/${or(kind.kind, '')}` : '<unset>',
    ageCell(object, now),
  ];
};

const bindingCells: CellSource = (object, now) => {
  const { spec } = shaped<PolicyBinding>(object);
  return [nameOf(object), or(spec?.policyName, ''), parameterCell(spec?.paramRef), ageCell(object, now)];
};

type ParameterReference = NonNullable<PolicyBinding['spec']>['paramRef'];

function parameterCell(reference: ParameterReference): string {
  if (!reference) return '<unset>';
  if (reference.name) return `${reference.namespace || '*'}/${reference.name}`;
  return reference.selector ? selectorDump(reference.selector) : '<unset>';
}

const group = 'admissionregistration.k8s.io';

export const admissionCells: CellSources = {
  [`${group}/MutatingWebhookConfiguration`]: webhookCells,
  [`${group}/ValidatingWebhookConfiguration`]: webhookCells,
  [`${group}/ValidatingAdmissionPolicy`]: policyCells,
  [`${group}/MutatingAdmissionPolicy`]: policyCells,
  [`${group}/ValidatingAdmissionPolicyBinding`]: bindingCells,
  [`${group}/MutatingAdmissionPolicyBinding`]: bindingCells,
};

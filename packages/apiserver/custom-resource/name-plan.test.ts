import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { certificate, define } from './definitions.fixture.ts';
import { planNames } from './name-plan.ts';

function accepted(crd: KubeObject): KubeObject {
  const plan = planNames(crd, []);
  return { ...crd, status: { acceptedNames: plan.acceptedNames, conditions: plan.conditions } };
}

test('names that nobody holds are accepted, and the definition is established', () => {
  assert.deepEqual(planNames(certificate, []), {
    acceptedNames: {
      plural: 'certificates',
      singular: 'certificate',
      shortNames: [],
      kind: 'Certificate',
      listKind: 'CertificateList',
      categories: [],
    },
    conditions: [
      { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' },
      {
        type: 'Established',
        status: 'True',
        reason: 'InitialNamesAccepted',
        message: 'the initial names have been accepted',
      },
    ],
  });
});

test('a kind that another definition of the group holds is refused', () => {
  const rival = define({
    group: 'certs.example.com',
    plural: 'papers',
    kind: 'Certificate',
    schema: { type: 'object' },
  });
  const plan = planNames(rival, [accepted(certificate)]);
  assert.deepEqual(plan.conditions, [
    {
      type: 'NamesAccepted',
      status: 'False',
      reason: 'ListKindConflict',
      message: '"CertificateList" is already in use',
    },
    { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
  ]);
  assert.equal(plan.acceptedNames.plural, 'papers');
  assert.equal(plan.acceptedNames.kind, '');
});

test('other groups do not matter, and once established a definition stays so', () => {
  const other = define({
    group: 'b.com',
    plural: 'certificates',
    kind: 'Certificate',
    schema: { type: 'object' },
  });
  assert.equal(planNames(other, [accepted(certificate)]).conditions[0]?.status, 'True');
  const rival = accepted(
    define({ group: 'certs.example.com', plural: 'papers', kind: 'Paper', schema: { type: 'object' } }),
  );
  const renamed = structuredClone(rival);
  (renamed['spec'] as { names: { singular: string } }).names.singular = 'certificate';
  const plan = planNames(renamed, [accepted(certificate)]);
  assert.deepEqual(
    plan.conditions.map((condition) => `${condition.type}=${condition.status}`),
    ['NamesAccepted=False', 'Established=True'],
  );
  assert.equal(plan.acceptedNames.singular, 'paper');
});

test('the approval of reserved groups is a condition', () => {
  const crd = define({ group: 'x.k8s.io', plural: 'xs', kind: 'X', schema: { type: 'object' } });
  crd.metadata.annotations = { 'api-approved.kubernetes.io': 'unapproved' };
  assert.deepEqual(planNames(crd, []).conditions.at(-1), {
    type: 'KubernetesAPIApprovalPolicyConformant',
    status: 'False',
    reason: 'UnapprovedAnnotation',
    message: 'not approved: "unapproved"',
  });
});

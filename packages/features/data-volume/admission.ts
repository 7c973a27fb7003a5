import { type AdmissionContext, type AdmissionRule, type AdmissionVerdict, allow, deny } from '@sheaf/api';
import type { DataVolume } from '@sheaf/api/virtualization/index';
import { jsonEqual } from '@sheaf/base';
import { problemOf } from './source-plan.ts';

/** What is refused of data volumes before anything is begun. */
export const dataVolumeRule: AdmissionRule = {
  name: 'data-volume',
  targets: [{ group: 'cdi.kubevirt.io', resource: 'datavolumes' }],
  operations: ['CREATE', 'UPDATE'],
  validate(object, old, context) {
    const dataVolume = object as DataVolume;
    return old ? checkChange(dataVolume, old as DataVolume) : checkNew(dataVolume, context);
  },
};

async function checkNew(dataVolume: DataVolume, context: AdmissionContext): Promise<AdmissionVerdict> {
  const problem = problemOf(dataVolume);
  if (problem)
    return deny({
      reason: 'Invalid',
      message: `${problem.field}: ${problem.text}`,
      wayOut: problem.wayOut,
      causes: [{ reason: 'FieldValueInvalid', message: problem.text, field: problem.field }],
    });
  const { pvc, snapshot } = dataVolume.spec.source ?? {};
  const place = pvc ?? snapshot;
  if (!place || (place.namespace || context.namespace) === context.namespace) return allow();
  const question = {
    verb: 'create',
    group: 'cdi.kubevirt.io',
    resource: 'datavolumes',
    subresource: 'source',
    namespace: place.namespace,
  };
  if (await context.may(question)) return allow();
  return deny({
    reason: 'Forbidden',
    message: `content of namespace ${place.namespace} may not be cloned by ${context.user.name}`,
    wayOut: `ask for the right to create datavolumes/source there`,
  });
}

function checkChange(dataVolume: DataVolume, old: DataVolume): AdmissionVerdict {
  if (dataVolume.metadata.deletionTimestamp !== undefined || isSameSpec(dataVolume, old)) return allow();
  return deny({
    reason: 'Invalid',
    message: 'the spec of a data volume cannot be changed',
    wayOut: 'expand its claim, or make another data volume',
  });
}

function isSameSpec(a: DataVolume, b: DataVolume): boolean {
  const text = ({ spec }: DataVolume): Parameters<typeof jsonEqual>[0] =>
    JSON.parse(JSON.stringify(spec)) as Parameters<typeof jsonEqual>[0];
  return jsonEqual(text(a), text(b));
}

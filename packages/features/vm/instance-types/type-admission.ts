import type { AdmissionContext, AdmissionObjects, KubeObject } from '@sheaf/api';
import type { StatusError } from '@sheaf/base';
import { refusalOf, type Verdict } from '../admission.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { expandMachine, hasTypes } from './expand-machine.ts';
import { lookUpTypes, typeResources } from './find-types.ts';
import { inferTypes, type LabelledObjects, matcherCauses } from './infer.ts';

const claims = { group: '', resource: 'persistentvolumeclaims' };
const dataVolumes = { group: 'cdi.kubevirt.io', resource: 'datavolumes' };
const dataSources = { group: 'cdi.kubevirt.io', resource: 'datasources' };

/** What the rules about machines with instance types look at. */
export const typeReads = [...typeResources, claims, dataVolumes, dataSources];

const webhook = 'virtualmachines-mutator.kubevirt.io';

/** The machine with its types named, also where its volumes are to name them. */
export function withTypes(
  machine: VirtualMachine,
  { objects, namespace }: AdmissionContext,
): { readonly machine: VirtualMachine; readonly refusal?: StatusError } {
  if (!hasTypes(machine)) return { machine };
  const wrong = matcherCauses(machine);
  if (wrong.length > 0) return { machine, refusal: refusalOf(webhook, wrong) };
  const placed = { ...machine, metadata: { ...machine.metadata, namespace } };
  const inferred = inferTypes(placed, labelled(objects));
  if (inferred.causes.length > 0) return { machine, refusal: refusalOf(webhook, inferred.causes) };
  return { machine: { ...inferred.machine, metadata: machine.metadata } };
}

function labelled(objects: AdmissionObjects): LabelledObjects {
  const finder =
    (resource: typeof claims) =>
    (namespace: string, name: string): KubeObject | undefined =>
      objects.find(resource, { namespace, name });
  return { claim: finder(claims), dataVolume: finder(dataVolumes), dataSource: finder(dataSources) };
}

/** Validates what a machine comes to with its types. One whose types are not there yet is let in: it waits for them. */
export function validateExpanded(
  machine: VirtualMachine,
  objects: AdmissionObjects,
  validate: (machine: VirtualMachine) => Verdict,
): Verdict {
  if (!hasTypes(machine)) return validate(machine);
  const expansion = expandMachine(machine, lookUpTypes(machine, objects));
  switch (expansion.state) {
    case 'missing':
      return {
        refusal: undefined,
        warnings: [`${expansion.text}: the machine does not start before it is there`],
      };
    case 'conflict':
      return { refusal: refusalOf('virtualmachine-validator.kubevirt.io', expansion.causes), warnings: [] };
    case 'expanded':
      return validate({ ...machine, spec: { ...machine.spec, template: expansion.template } });
  }
}

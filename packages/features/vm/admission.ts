import { type StatusCause, StatusError } from '@sheaf/base';
import { instanceCoverage } from './instance-coverage.ts';
import type { InstanceSpec } from './instance-spec.ts';
import { cause } from './rules/cause.ts';
import { credentialCauses } from './rules/credential-rules.ts';
import { diskCauses } from './rules/disk-rules.ts';
import { harvesterCauses } from './rules/harvester-rules.ts';
import { networkCauses } from './rules/network-rules.ts';
import { resourceCauses } from './rules/resource-rules.ts';
import { volumeCauses } from './rules/volume-rules.ts';
import { findUncovered } from './spec-coverage.ts';
import { runStrategies, type VirtualMachine, type VirtualMachineInstance } from './virtual-machine.ts';

export interface Verdict {
  /** 422, with all that is wrong. */
  readonly refusal: StatusError | undefined;
  /** For people who write the object: what will have no effect. */
  readonly warnings: readonly string[];
}

/** May this virtual machine be written? `others` are all there are. */
export function validateMachine(machine: VirtualMachine, others: readonly VirtualMachine[]): Verdict {
  // Unchecked input: what the schema requires may still be missing where the schema is older than the object.
  const template = machine.spec.template as VirtualMachine['spec']['template'] | undefined;
  if (!template)
    return verdict('virtualmachine-validator.kubevirt.io', [
      cause('spec.template', 'missing virtual machine template.', {
        wayOut: 'describe the machine in spec.template',
        reason: 'FieldValueRequired',
      }),
    ]);
  const path = 'spec.template.spec';
  const causes = [
    ...specCauses(template.spec, path),
    ...strategyCauses(machine),
    ...dataVolumeCauses(machine),
  ];
  if (causes.length > 0) return verdict('virtualmachine-validator.kubevirt.io', causes);
  const own = verdict('validator.harvesterhci.io', harvesterCauses(machine, others));
  return { ...own, warnings: warningsOf(template.spec, path) };
}

/** May this instance be made? */
export function validateInstance({ spec }: VirtualMachineInstance): Verdict {
  const causes = [...specCauses(spec, 'spec'), ...unusedVolumes(spec, 'spec')];
  const own = verdict('virtualmachineinstances-create-validator.kubevirt.io', causes);
  return { ...own, warnings: warningsOf(spec, 'spec') };
}

function specCauses(spec: InstanceSpec, path: string): readonly StatusCause[] {
  return [
    ...resourceCauses(spec, path),
    ...diskCauses(spec, path),
    ...volumeCauses(spec, path),
    ...networkCauses(spec, path),
    ...credentialCauses(spec, path),
    ...coverageCauses(spec, path),
  ];
}

/** What cannot be had is refused here already, not by a machine that never starts. */
function coverageCauses(spec: InstanceSpec, path: string): readonly StatusCause[] {
  return findUncovered(spec, instanceCoverage, path).refused.map(({ field, reason, wayOut }) =>
    cause(field, reason, { wayOut, reason: 'FieldValueNotSupported' }),
  );
}

function warningsOf(spec: InstanceSpec, path: string): readonly string[] {
  return findUncovered(spec, instanceCoverage, path).withoutEffect.map((field) => `${field} has no effect`);
}

function strategyCauses({ spec }: VirtualMachine): readonly StatusCause[] {
  const { running, runStrategy } = spec;
  if (running !== undefined && runStrategy !== undefined)
    return [
      cause('spec.running', 'Running and RunStrategy are mutually exclusive', {
        wayOut: 'remove spec.running',
      }),
    ];
  if (running === undefined && runStrategy === undefined)
    return [
      cause('spec.running', 'One of Running or RunStrategy must be specified', {
        wayOut: 'set spec.runStrategy, for instance to RerunOnFailure',
      }),
    ];
  if (runStrategy === undefined || runStrategies.includes(runStrategy)) return [];
  const text = `Invalid RunStrategy (${runStrategy as string})`;
  return [cause('spec.runStrategy', text, { wayOut: `use one of ${runStrategies.join(', ')}` })];
}

function dataVolumeCauses({ spec }: VirtualMachine): readonly StatusCause[] {
  const volumes = spec.template.spec.volumes ?? [];
  return (spec.dataVolumeTemplates ?? []).flatMap(({ metadata }, index) => {
    const field = `spec.dataVolumeTemplates[${index}]`;
    const name = metadata.name ?? '';
    const isUsed = volumes.some(
      ({ dataVolume, persistentVolumeClaim }) =>
        dataVolume?.name === name || persistentVolumeClaim?.claimName === name,
    );
    if (name !== '' && isUsed) return [];
    const text =
      name === ''
        ? `'name' field must not be empty for DataVolumeTemplate entry ${field}.`
        : `DataVolumeTemplate entry ${field} must be referenced in the VMI template's 'volumes' list`;
    return [cause(field, text, { wayOut: 'name it and use it', reason: 'FieldValueRequired' })];
  });
}

function unusedVolumes({ domain, volumes = [] }: InstanceSpec, path: string): readonly StatusCause[] {
  const names = new Set((domain.devices.disks ?? []).map(({ name }) => name));
  return volumes.flatMap(({ name }, index) => {
    if (names.has(name)) return [];
    const field = `${path}.domain.volumes[${index}].name`;
    return [cause(field, `${field} '${name}' not found.`, { wayOut: 'add a disk of this name' })];
  });
}

function verdict(webhook: string, causes: readonly StatusCause[]): Verdict {
  if (causes.length === 0) return { refusal: undefined, warnings: [] };
  return { refusal: refusalOf(webhook, causes), warnings: [] };
}

/** As a webhook of KubeVirt refuses. */
export function refusalOf(webhook: string, causes: readonly StatusCause[]): StatusError {
  const text = causes.map(({ message }) => message).join(', ');
  const message = `admission webhook ${JSON.stringify(webhook)} denied the request: ${text}`;
  return new StatusError({ reason: 'Invalid', message, details: { causes } });
}

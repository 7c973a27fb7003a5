import {
  givenMemoryAnnotation,
  memoryStartText,
  startFromMemoryAnnotation,
  type VirtualMachine,
  type VirtualMachineBackup,
  type VirtualMachineRestore,
  type VirtualMachineSpec,
} from '@sheaf/api/virtualization/index';
import { memoryStartFor } from './kept-memory.ts';
import { marksOf } from './restore-marks.ts';
import { withSecretNames, withSecretNamesNoted } from './secret-references.ts';
import { claimNameOf } from './source-disks.ts';

/** They name claims and addresses of the machine that the snapshot is of: with them, the new one would make or remove those. */
const ownAnnotations = new Set([
  'harvesterhci.io/volumeClaimTemplates',
  'harvesterhci.io/removedPersistentVolumeClaims',
  'harvesterhci.io/mac-address',
  'kubectl.kubernetes.io/last-applied-configuration',
  startFromMemoryAnnotation,
  givenMemoryAnnotation,
]);
const templatesAnnotation = 'harvesterhci.io/volumeClaimTemplates';
const lastStrategyAnnotation = 'harvesterhci.io/vmRunStrategy';
const nameLabel = 'harvesterhci.io/vmName';

type Template = VirtualMachineSpec['template'];
type InstanceSpec = NonNullable<Template['spec']>;
type Strategy = NonNullable<VirtualMachineSpec['runStrategy']>;

/** New names for what a machine refers to. */
export interface RestoredNames {
  /** From the claims of the snapshot. */
  readonly claims: ReadonlyMap<string, string>;
  readonly secretName: (original: string) => string;
}

/** As the machine of the snapshot was to run, unless it is to stay off. */
export function restoredStrategy(
  { spec: { haltAfterRestore } }: VirtualMachineRestore,
  source: VirtualMachineSpec,
): Strategy {
  if (haltAfterRestore === true) return 'Halted';
  if (source.runStrategy !== undefined) return source.runStrategy;
  if (source.running === undefined) return 'RerunOnFailure';
  return source.running ? 'Always' : 'Halted';
}

/** The machine of a snapshot under its new name, with claims and Secrets of its own. */
export function newMachine(
  restore: VirtualMachineRestore,
  backup: VirtualMachineBackup,
  names: RestoredNames,
): VirtualMachine | undefined {
  const { metadata, spec } = restore;
  const { source } = backup.status ?? {};
  if (!source?.spec) return undefined;
  const { dataVolumeTemplates: _d, running: _r, template, ...rest } = source.spec;
  const kept = Object.entries(source.metadata?.annotations ?? {}).filter(([key]) => !ownAnnotations.has(key));
  const { labels } = source.metadata ?? {};
  const renamed = withNames(template, names);
  return {
    metadata: {
      namespace: metadata.namespace ?? '',
      name: spec.target.name,
      ...(labels ? { labels } : {}),
      annotations: { ...Object.fromEntries(kept), ...marksOf(restore), ...memoryOf(restore, backup, names) },
    },
    spec: {
      ...rest,
      runStrategy: restoredStrategy(restore, source.spec),
      template: asAnother(renamed, spec.target.name, spec.keepMacAddress === true),
    },
  };
}

/**
 * The machine as it was in the snapshot, with the claims made of it in the places of its own. It stays off until it is told otherwise:
 * a change of its strategy is what starts it.
 */
export function replacedMachine(
  target: VirtualMachine,
  {
    restore,
    backup,
    source,
  }: {
    readonly restore: VirtualMachineRestore;
    readonly backup: VirtualMachineBackup;
    readonly source: VirtualMachineSpec;
  },
  names: RestoredNames,
): VirtualMachine {
  const { dataVolumeTemplates: _d, running: _r, template, ...rest } = source;
  const {
    [templatesAnnotation]: _t,
    [startFromMemoryAnnotation]: _m,
    [givenMemoryAnnotation]: _g,
    ...kept
  } = target.metadata.annotations ?? {};
  const annotations = { ...kept, ...marksOf(restore), ...memoryOf(restore, backup, names) };
  return {
    ...target,
    metadata: { ...target.metadata, annotations },
    spec: { ...rest, runStrategy: 'Halted', template: withNames(template, names) },
  };
}

/** In the same write as its disks: the memory of one moment never meets the disks of another. */
function memoryOf(
  restore: VirtualMachineRestore,
  backup: VirtualMachineBackup,
  { claims }: RestoredNames,
): Readonly<Record<string, string>> {
  const start = memoryStartFor(restore, backup, claims);
  return start ? { [startFromMemoryAnnotation]: memoryStartText(start) } : {};
}

/** The machine with the strategy by which it runs again. A start takes the last one that is noted. */
export function startedMachine(machine: VirtualMachine, runStrategy: Strategy): VirtualMachine {
  const annotations = { ...machine.metadata.annotations, [lastStrategyAnnotation]: runStrategy };
  return {
    ...machine,
    metadata: { ...machine.metadata, annotations },
    spec: { ...machine.spec, runStrategy },
  };
}

function withNames({ metadata, spec, ...template }: Template, names: RestoredNames): Template {
  const annotations = withSecretNamesNoted(metadata?.annotations, names.secretName);
  return {
    ...template,
    ...(metadata ? { metadata: { ...metadata, ...(annotations ? { annotations } : {}) } } : {}),
    ...(spec ? { spec: withClaims(withSecretNames(spec, names.secretName), names.claims) } : {}),
  };
}

function withClaims(spec: InstanceSpec, claims: ReadonlyMap<string, string>): InstanceSpec {
  const volumes = spec.volumes?.map((volume) => {
    const claimName = claims.get(claimNameOf(volume) ?? '');
    if (claimName === undefined) return volume;
    const { dataVolume, ...rest } = volume;
    const { hotpluggable } = dataVolume ?? {};
    const kept = hotpluggable === undefined ? {} : { hotpluggable };
    return { ...rest, persistentVolumeClaim: { ...kept, ...rest.persistentVolumeClaim, claimName } };
  });
  return { ...spec, ...(volumes ? { volumes } : {}) };
}

/** Two machines never have the same identity or, unless it is wanted, the same address. */
function asAnother(template: Template, name: string, keepsAddresses: boolean): Template {
  const { metadata, spec } = template;
  const labels = metadata?.labels;
  const label = labels?.[nameLabel] === undefined ? {} : { [nameLabel]: name };
  return {
    ...template,
    ...(labels ? { metadata: { ...metadata, labels: { ...labels, ...label } } } : {}),
    ...(spec ? { spec: withOwnIdentity(spec, keepsAddresses) } : {}),
  };
}

function withOwnIdentity(spec: InstanceSpec, keepsAddresses: boolean): InstanceSpec {
  const { domain } = spec;
  const { uuid: _u, serial: _s, ...firmware } = domain.firmware ?? {};
  const interfaces = domain.devices.interfaces?.map((each) => {
    const { macAddress: _m, ...rest } = each;
    return keepsAddresses ? each : rest;
  });
  return {
    ...spec,
    domain: {
      ...domain,
      ...(domain.firmware ? { firmware } : {}),
      devices: { ...domain.devices, ...(interfaces ? { interfaces } : {}) },
    },
  };
}

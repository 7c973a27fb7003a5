import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import type { JsonObject } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { claimNameOf, type InstanceSpec, type VolumeSpec } from '../instance-spec.ts';
import { type RunStrategy, runStrategies, type VirtualMachine } from '../virtual-machine.ts';
import { machineResource } from '../vm-resources.ts';
import {
  type Action,
  type ActionCall,
  freshName,
  invalidBody,
  readMachine,
  requiredText,
  textOf,
} from './action-call.ts';
import { mayCreate } from './backup-actions.ts';
import { withTemplates } from './claim-templates.ts';
import { createSecrets, mayCopySecrets, readSecrets } from './secret-copies.ts';
import { withSecrets } from './secret-names.ts';
import { withoutAddresses } from './without-addresses.ts';

export const cloneActions: Readonly<Record<string, Action>> = { clone };

/** What a machine is started with that is not in its spec. */
const keptAnnotations = ['harvesterhci.io/reservedMemory', 'harvesterhci.io/enableCPUAndMemoryHotplug'];
const nameLabel = 'harvesterhci.io/vmName';

/** A machine with copies of the volumes and Secrets of this one, and addresses and identity of its own. */
async function clone(call: ActionCall): Promise<undefined> {
  const name = requiredText(call, 'targetVm');
  const runStrategy = readStrategy(textOf(call, 'runStrategy'));
  const { client, signal } = call;
  await mayCreate(call, machineResource);
  await mayCreate(call, resources.persistentVolumeClaims);
  const source = await readMachine(call);
  const secretNames = new Map<string, string>();
  const renamed = withSecrets(source.spec.template.spec, renamer(call, name, secretNames));
  await mayCopySecrets(call, secretNames);
  const secrets = await readSecrets(call, secretNames);
  const { volumes, templates } = await cloneVolumes(call, name, renamed.volumes ?? []);
  const spec = ownSpec({ ...renamed, volumes }, name);
  const bare = cloneOf(source, { name, spec, runStrategy });
  const made = await client.create(machineResource, withTemplates(bare, templates), { signal });
  await createSecrets(call, secrets, {
    apiVersion: 'kubevirt.io/v1',
    kind: 'VirtualMachine',
    name,
    uid: made.metadata.uid ?? '',
  });
  return undefined;
}

function readStrategy(text: string): RunStrategy | undefined {
  if (text === '') return undefined;
  const known = runStrategies.find((strategy) => strategy === text);
  if (known) return known;
  throw invalidBody(`runStrategy ${text} is unknown; use one of ${runStrategies.join(', ')}`);
}

/** One copy of each Secret, however often it is used. */
function renamer(call: ActionCall, prefix: string, names: Map<string, string>): (name: string) => string {
  const copies = new Map<string, string>();
  return (original) => {
    const known = copies.get(original);
    if (known !== undefined) return known;
    const copy = freshName(call, prefix);
    copies.set(original, copy);
    names.set(copy, original);
    return copy;
  };
}

async function cloneVolumes(
  call: ActionCall,
  machineName: string,
  volumes: readonly VolumeSpec[],
): Promise<{ readonly volumes: readonly VolumeSpec[]; readonly templates: readonly JsonObject[] }> {
  const copies = await readCopies(call, machineName, volumes);
  const moment = copies.size > 1 ? atOneMoment(freshName(call, machineName), copies.size) : {};
  const templates = [...copies.values()].map(({ claim, name }) => copyOf(claim, name, moment));
  const next: VolumeSpec[] = [];
  for (const volume of volumes) {
    const copy = copies.get(claimNameOf(volume) ?? '');
    if (!copy) {
      next.push(volume);
      continue;
    }
    const { name } = copy;
    const { hotpluggable, readOnly } = {
      readOnly: undefined,
      ...volume.dataVolume,
      ...volume.persistentVolumeClaim,
    };
    next.push({
      name: volume.name,
      persistentVolumeClaim: {
        claimName: name,
        ...(readOnly === undefined ? {} : { readOnly }),
        ...(hotpluggable === undefined ? {} : { hotpluggable }),
      },
    });
  }
  return { volumes: next, templates };
}

interface ClaimCopy {
  readonly claim: PersistentVolumeClaim;
  /** Of the copy. */
  readonly name: string;
}

/** One copy of each claim, however many disks are on it. */
async function readCopies(
  call: ActionCall,
  machineName: string,
  volumes: readonly VolumeSpec[],
): Promise<ReadonlyMap<string, ClaimCopy>> {
  const { client, place, signal } = call;
  const copies = new Map<string, ClaimCopy>();
  for (const volume of volumes) {
    const claimName = claimNameOf(volume);
    if (claimName === undefined || copies.has(claimName)) continue;
    const ref = { namespace: place.namespace, name: claimName };
    const claim = await client.get(resources.persistentVolumeClaims, ref, signal);
    copies.set(claimName, { claim, name: freshName(call, `${machineName}-${volume.name}`) });
  }
  return copies;
}

/** Disks of a machine that runs belong together: what is on one may speak of what is on another. */
function atOneMoment(moment: string, size: number): Readonly<Record<string, string>> {
  return { 'sheaf.dev/moment': moment, 'sheaf.dev/moment-size': String(size) };
}

const imageAnnotation = 'harvesterhci.io/imageId';

function copyOf(
  { metadata, spec }: PersistentVolumeClaim,
  name: string,
  moment: Readonly<Record<string, string>>,
): JsonObject {
  const image = metadata.annotations?.[imageAnnotation];
  const { accessModes, resources: wanted, storageClassName, volumeMode } = spec;
  const dataSource = { kind: 'PersistentVolumeClaim', name: metadata.name };
  const annotations = { ...moment, ...(image === undefined ? {} : { [imageAnnotation]: image }) };
  const copy = {
    metadata: { name, ...(Object.keys(annotations).length > 0 ? { annotations } : {}) },
    spec: { accessModes, dataSource, resources: wanted, storageClassName, volumeMode },
  };
  // Without what is not set.
  return JSON.parse(JSON.stringify(copy)) as JsonObject;
}

/** Nothing by which two machines would be taken for one: name, addresses, the UUID that guests make their identity from. */
function ownSpec(given: InstanceSpec, name: string): InstanceSpec {
  const spec = withoutAddresses(given);
  const { firmware } = spec.domain;
  if (!firmware) return { ...spec, hostname: name };
  const { uuid: _, serial: __, ...kept } = firmware;
  return { ...spec, hostname: name, domain: { ...spec.domain, firmware: kept } };
}

interface CloneChoice {
  readonly name: string;
  readonly spec: InstanceSpec;
  readonly runStrategy: RunStrategy | undefined;
}

function cloneOf(source: VirtualMachine, { name, spec, runStrategy }: CloneChoice): VirtualMachine {
  const { namespace = '', labels, annotations = {} } = source.metadata;
  const kept = Object.entries(annotations).filter(([key]) => keptAnnotations.includes(key));
  const { running, dataVolumeTemplates: _, template, ...rest } = source.spec;
  const strategy = runStrategy ?? rest.runStrategy ?? (running === true ? 'Always' : 'Halted');
  const meta = { ...template.metadata, labels: { ...template.metadata?.labels, [nameLabel]: name } };
  return {
    metadata: {
      namespace,
      name,
      ...(labels ? { labels } : {}),
      annotations: Object.fromEntries(kept),
    },
    spec: { ...rest, runStrategy: strategy, template: { ...template, metadata: meta, spec } },
  };
}

import type { PersistentVolumeClaim, VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { type JsonObject, StatusError } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { DiskSpec, VolumeSpec } from '../instance-spec.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { requestAddVolume, requestRemoveVolume } from '../volume-change.ts';
import {
  type Action,
  type ActionCall,
  editMachine,
  freshName,
  invalidBody,
  readMachine,
  refused,
  requiredText,
  titleOf,
} from './action-call.ts';
import { readTemplates, templateName, withoutTemplate, withTemplate } from './claim-templates.ts';

export const volumeActions: Readonly<Record<string, Action>> = {
  addVolume,
  removeVolume,
  insertCdRomVolume,
  ejectCdRomVolume,
};

/** Plugs a claim in, for now and for later starts. */
async function addVolume(call: ActionCall): Promise<undefined> {
  const name = requiredText(call, 'diskName');
  const claimName = requiredText(call, 'volumeSourceName');
  const claim = await attachableClaim(call, claimName);
  const shareable = call.body['shareable'] === true ? { shareable: true } : {};
  await editMachine(call, (machine) => {
    const answer = requestAddVolume(machine, {
      name,
      disk: { disk: { bus: 'scsi' }, serial: name, ...shareable },
      volumeSource: { persistentVolumeClaim: { claimName } },
    });
    if (!answer.isAccepted) throw answer.error;
    const [write] = answer.writes;
    return write?.target === 'machine' ? withKnownTemplate(write.object, claim) : machine;
  });
  return undefined;
}

/** Machines that bring no claims along, bring this one neither. */
function withKnownTemplate(
  machine: VirtualMachine,
  { metadata, spec }: PersistentVolumeClaim,
): VirtualMachine {
  if (readTemplates(machine).length === 0) return machine;
  const { accessModes, resources: wanted, volumeMode, storageClassName } = spec;
  const own = { accessModes, resources: wanted, volumeMode, storageClassName };
  return withTemplate(machine, plain({ metadata: { name: metadata.name }, spec: own }));
}

/** As JSON, without what is not set. */
function plain(object: object): JsonObject {
  return JSON.parse(JSON.stringify(object)) as JsonObject;
}

async function attachableClaim(
  { client, place, signal }: ActionCall,
  name: string,
): Promise<PersistentVolumeClaim> {
  const ref = { namespace: place.namespace, name };
  const claim = await client.get(resources.persistentVolumeClaims, ref, signal);
  if (claim.status?.phase === 'Bound' || (await waitsForFirstConsumer(claim, signal))) return claim;
  throw refused(
    `volume ${name} is not bound yet; wait until it is, \`sheaf why pvc/${name}\` tells what for`,
  );

  async function waitsForFirstConsumer({ spec }: PersistentVolumeClaim, ends: AbortSignal): Promise<boolean> {
    const className = spec.storageClassName ?? '';
    if (className === '') return false;
    const found = await client.find(resources.storageClasses, { name: className }, ends);
    return found?.volumeBindingMode === 'WaitForFirstConsumer';
  }
}

/** Unplugs what was plugged in; the claim stays. */
async function removeVolume(call: ActionCall): Promise<undefined> {
  const name = requiredText(call, 'diskName');
  await editMachine(call, (machine) => {
    const answer = requestRemoveVolume(machine, { name });
    if (!answer.isAccepted) throw answer.error;
    const [write] = answer.writes;
    const claimName = claimOf(machine, name);
    return write?.target === 'machine' ? withoutTemplate(write.object, claimName) : machine;
  });
  return undefined;
}

function claimOf({ spec }: VirtualMachine, volumeName: string): string {
  const volume = spec.template.spec.volumes?.find(({ name }) => name === volumeName);
  return volume?.persistentVolumeClaim?.claimName ?? '';
}

/** Puts an image into an empty SATA CD-ROM drive. */
async function insertCdRomVolume(call: ActionCall): Promise<undefined> {
  // The capital letter is Harvester's, and only here.
  const device = requiredText(call, 'DeviceName');
  const image = await readImage(call, requiredText(call, 'imageName'));
  const claimName = freshName(call, `${call.place.name}-${device}`);
  await editMachine(call, (machine) => {
    findDrive(call, machine, device);
    const { template } = machine.spec;
    const volumes = template.spec.volumes ?? [];
    if (volumes.some(({ name }) => name === device))
      throw refused(`the CD-ROM drive ${device} of ${titleOf(call)} is not empty; eject its medium first`);
    const medium: VolumeSpec = {
      name: device,
      persistentVolumeClaim: { claimName, hotpluggable: true },
    };
    const next = withVolumes(machine, [...volumes, medium]);
    return withTemplate(next, mediumTemplate(claimName, image));
  });
  return undefined;
}

async function readImage(call: ActionCall, text: string): Promise<VirtualMachineImage> {
  const { client, request, signal } = call;
  const [namespace = '', name = '', ...further] = text.split('/');
  if (namespace === '' || name === '' || further.length > 0)
    throw invalidBody(`invalid image name: ${text}, should be namespace/name`);
  const { group, plural: resource } = resources.virtualMachineImages;
  await request.authorize({ verb: 'get', group, resource, namespace, name });
  const image = await client.get(resources.virtualMachineImages, { namespace, name }, signal);
  if (image.status?.storageClassName && sizeOf(image) > 0) return image;
  throw refused(
    `image ${text} is not imported yet; wait until it is, \`sheaf image ls\` shows how far it is`,
  );
}

function sizeOf({ status }: VirtualMachineImage): number {
  return Math.max(status?.virtualSize ?? 0, status?.size ?? 0);
}

const gibibyte = 2 ** 30;

function mediumTemplate(name: string, image: VirtualMachineImage): JsonObject {
  const { namespace = '', name: imageName = '' } = image.metadata;
  const storage = `${Math.ceil(sizeOf(image) / gibibyte)}Gi`;
  return {
    metadata: { name, annotations: { 'harvesterhci.io/imageId': `${namespace}/${imageName}` } },
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      resources: { requests: { storage } },
      storageClassName: image.status?.storageClassName ?? '',
    },
  };
}

/** Takes the medium out; the drive stays. A claim that was made for it goes. */
async function ejectCdRomVolume(call: ActionCall): Promise<undefined> {
  const device = requiredText(call, 'deviceName');
  const made = madeFor(await readMachine(call), device);
  if (made !== '') await mayRemoveClaim(call, made);
  await editMachine(call, (machine) => {
    findDrive(call, machine, device);
    const volumes = (machine.spec.template.spec.volumes ?? []).filter(({ name }) => name !== device);
    return withoutTemplate(withVolumes(machine, volumes), claimOf(machine, device));
  });
  if (made !== '') await removeClaim(call, made);
  return undefined;
}

/** The claim in a drive, if the machine brings it along. */
function madeFor(machine: VirtualMachine, device: string): string {
  const claimName = claimOf(machine, device);
  return readTemplates(machine).some((template) => templateName(template) === claimName) ? claimName : '';
}

/** What a machine says that it brings along is the user's word; the claim may be another's. */
async function mayRemoveClaim({ request, place }: ActionCall, name: string): Promise<void> {
  const { namespace } = place;
  const resource = resources.persistentVolumeClaims.plural;
  await request.authorize({ verb: 'delete', group: '', resource, namespace, name });
}

async function removeClaim({ client, place, signal }: ActionCall, name: string): Promise<void> {
  try {
    const ref = { namespace: place.namespace, name };
    await client.delete(resources.persistentVolumeClaims, ref, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'NotFound')) throw error;
  }
}

function findDrive(call: ActionCall, { spec }: VirtualMachine, name: string): DiskSpec {
  const disks = spec.template.spec.domain.devices.disks ?? [];
  const drive = disks.find((disk) => disk.name === name && disk.cdrom?.bus === 'sata');
  if (drive) return drive;
  throw invalidBody(
    `can not find the SATA CD-ROM device ${name} from the VM ${titleOf(call)}; see spec.template.spec.domain.devices.disks for the names`,
  );
}

function withVolumes(machine: VirtualMachine, volumes: readonly VolumeSpec[]): VirtualMachine {
  const { template } = machine.spec;
  return {
    ...machine,
    spec: { ...machine.spec, template: { ...template, spec: { ...template.spec, volumes } } },
  };
}

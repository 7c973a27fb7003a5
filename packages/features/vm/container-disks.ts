import type { Waiting } from '@sheaf/api';
import { containerVolumeId, containerVolumeOwner, isInsecureRegistry } from '@sheaf/api/virtualization/index';
import { isJsonObject, type JsonValue, Secret, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { ContainerDiskObservation, ContainerDisks, DiskFile, Progress, Volumes } from '@sheaf/ports';
import type { ContainerDiskSource, VolumeSpec } from './instance-spec.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';

/** Where disks of container images come from, and what machines write to instead of them. */
export interface ContainerDiskParts {
  readonly disks: ContainerDisks;
  readonly volumes: Pick<Volumes, 'find' | 'create' | 'remove' | 'list'>;
}

/** What is known of the disk behind a volume. */
export type ContainerDiskFact =
  | { readonly state: 'ready'; readonly file: DiskFile; readonly isBusy: boolean }
  | { readonly state: 'waiting'; readonly waiting: Waiting };

export type ContainerDiskFacts = ReadonlyMap<string, ContainerDiskFact>;

interface Wanted {
  readonly volume: VolumeSpec;
  readonly source: ContainerDiskSource;
  readonly instance: VirtualMachineInstance;
  readonly isStarted: boolean;
}

const grainBytes = 4096;

/** Fetches what is missing, and makes for each disk a volume of this run that forgets what is written with its end. */
export async function readContainerDisks(
  { client, containers }: { readonly client: Client; readonly containers?: ContainerDiskParts | undefined },
  { instance, isStarted }: { readonly instance: VirtualMachineInstance; readonly isStarted: boolean },
  signal: AbortSignal,
): Promise<ContainerDiskFacts> {
  const facts = new Map<string, ContainerDiskFact>();
  for (const volume of instance.spec.volumes ?? []) {
    const source = volume.containerDisk;
    if (!source) continue;
    const wanted = { volume, source, instance, isStarted };
    facts.set(volume.name, containers ? await readOne({ client, containers }, wanted, signal) : unavailable);
  }
  return facts;
}

interface Parts {
  readonly client: Client;
  readonly containers: ContainerDiskParts;
}

async function readOne(parts: Parts, wanted: Wanted, signal: AbortSignal): Promise<ContainerDiskFact> {
  const { volumes } = parts.containers;
  const { uid = '' } = wanted.instance.metadata;
  const id = containerVolumeId(uid, wanted.volume.name);
  const present = await volumes.find(id, signal);
  if (present) return { state: 'ready', file: present.file, isBusy: present.isBusy };
  // A machine that runs has its disk, whatever became of the file's record; nothing is fetched for it.
  if (wanted.isStarted) return { state: 'waiting', waiting: makingOf({ state: 'working', percent: 0 }) };
  const access = await readAccess(parts.client, wanted, signal);
  if ('waiting' in access) return { state: 'waiting', waiting: access.waiting };
  const fetched = await parts.containers.disks.fetch(
    { ...orderOf(wanted, uid), access: access.access },
    signal,
  );
  if (!fetched.image) return { state: 'waiting', waiting: waitingOf(fetched, wanted.source) };
  return makeVolume(volumes, { id, wanted, image: fetched.image }, signal);
}

async function makeVolume(
  volumes: ContainerDiskParts['volumes'],
  {
    id,
    wanted,
    image,
  }: {
    readonly id: string;
    readonly wanted: Wanted;
    readonly image: NonNullable<ContainerDiskObservation['image']>;
  },
  signal: AbortSignal,
): Promise<ContainerDiskFact> {
  const { namespace = '', name = '' } = wanted.instance.metadata;
  try {
    const progress = await volumes.create(
      {
        id,
        title: `${namespace}/${name} ${wanted.volume.name}`,
        bytes: Math.max(grainBytes, Math.ceil(image.virtualBytes / grainBytes) * grainBytes),
        content: { kind: 'image', imageId: image.id },
        provisioning: 'thin',
      },
      signal,
    );
    const made = progress.state === 'done' ? await volumes.find(id, signal) : undefined;
    if (made) return { state: 'ready', file: made.file, isBusy: made.isBusy };
    return { state: 'waiting', waiting: makingOf(progress) };
  } catch (error) {
    if (!StatusError.is(error) || error.reason === 'InternalError') throw error;
    return {
      state: 'waiting',
      waiting: { reason: 'VolumeFailed', text: error.message, nature: 'transient' },
    };
  }
}

function makingOf(progress: Progress): Waiting {
  const text = progress.state === 'failed' ? progress.message : 'A disk over a container image is being made';
  return { reason: 'VolumePreparing', text, nature: 'transient' };
}

function orderOf({ source }: Wanted, occasion: string) {
  const { image = '', path, imagePullPolicy } = source;
  return {
    reference: image,
    policy: imagePullPolicy ?? usualPolicy(image),
    occasion,
    ...(path === undefined || path === '' ? {} : { path }),
  };
}

/** As for containers: what is called latest, or nothing, may have changed. */
function usualPolicy(image: string): 'Always' | 'IfNotPresent' {
  const name = image.slice(image.lastIndexOf('/') + 1);
  return name.includes('@') || (name.includes(':') && !name.endsWith(':latest')) ? 'IfNotPresent' : 'Always';
}

/** KubeVirt's words, as those of kubelets. */
function waitingOf({ progress }: ContainerDiskObservation, { image = '' }: ContainerDiskSource): Waiting {
  if (progress.state !== 'failed')
    return {
      reason: 'ImagePulling',
      text: `The container image ${image} is being fetched`,
      nature: 'transient',
    };
  const end = progress.message.lastIndexOf('; ');
  const [text, wayOut] =
    end > 0
      ? [progress.message.slice(0, end), progress.message.slice(end + 2)]
      : [progress.message, mendImage];
  return { reason: 'ErrImagePull', text: `The container image ${image}: ${text}`, nature: 'fault', wayOut };
}

const mendImage = 'correct its name, its pull secret or the registry; it is tried again by itself';

const unavailable: ContainerDiskFact = {
  state: 'waiting',
  waiting: {
    reason: 'ErrImagePull',
    text: 'Disks in container images cannot be had on this host',
    nature: 'fault',
    wayOut: 'import the disk as an image and use a volume made from it',
  },
};

type Access =
  | { readonly waiting: Waiting }
  | { readonly access: Parameters<ContainerDisks['fetch']>[0]['access'] };

async function readAccess(
  client: Client,
  { source, instance }: Wanted,
  signal: AbortSignal,
): Promise<Access> {
  // CDI's own list of registries without TLS; those of the host are its own affair.
  const isInsecure = isInsecureRegistry(await findConfig(client, signal), source.image ?? '');
  const { imagePullSecret: name = '' } = source;
  const shared = isInsecure ? { isInsecure } : {};
  if (name === '') return { access: shared };
  const { namespace = '' } = instance.metadata;
  const secret = await client.find(resources.secrets, { namespace, name }, signal);
  const text = secret && pullConfigOf(secret as unknown as JsonValue);
  if (text === undefined)
    return {
      waiting: {
        reason: 'ErrImagePull',
        text: secret
          ? `The Secret ${name} is none for registries`
          : `The Secret ${name} for its registry is not there`,
        nature: 'fault',
        wayOut: `create it with "kubectl create secret docker-registry ${name}"`,
        object: { kind: 'Secret', namespace, name },
      },
    };
  return { access: { ...shared, credentials: [new Secret(text)] } };
}

function pullConfigOf(secret: JsonValue): string | undefined {
  const data = isJsonObject(secret) ? secret['data'] : undefined;
  const value = isJsonObject(data) ? data['.dockerconfigjson'] : undefined;
  return typeof value === 'string' ? Buffer.from(value, 'base64').toString('utf8') : undefined;
}

/** Where the kind is not served there is none. */
async function findConfig(client: Client, signal: AbortSignal): Promise<unknown> {
  try {
    return await client.find(resources.cdiConfigs, { name: 'config' }, signal);
  } catch (error) {
    if (!StatusError.is(error) || error.code !== 404) throw error;
    return undefined;
  }
}

/** What a run of a machine has written over disks of container images. */
export async function removeContainerVolumes(
  containers: ContainerDiskParts | undefined,
  { metadata, spec }: VirtualMachineInstance,
  signal: AbortSignal,
): Promise<void> {
  for (const { name, containerDisk } of spec.volumes ?? [])
    if (containerDisk) await containers?.volumes.remove(containerVolumeId(metadata.uid ?? '', name), signal);
}

export interface NamingObjects {
  readonly machines: () => readonly VirtualMachine[];
  readonly instances: () => readonly VirtualMachineInstance[];
}

/** Removes what runs that are over have left, and what no machine names any more. */
export async function sweepContainerDisks(
  { disks, volumes }: ContainerDiskParts,
  { machines, instances }: NamingObjects,
  signal: AbortSignal,
): Promise<void> {
  const found = await volumes.list(signal);
  // Looked at afterwards, so that none is missing that had made a volume by then.
  const uids = new Set(instances().map(({ metadata }) => metadata.uid ?? ''));
  for (const { id } of found) {
    const owner = containerVolumeOwner(id);
    if (owner !== undefined && !uids.has(owner)) await volumes.remove(id, signal);
  }
  const specs = [...machines().map(({ spec }) => spec.template.spec), ...instances().map(({ spec }) => spec)];
  const references = specs.flatMap(({ volumes: all }) =>
    (all ?? []).flatMap(({ containerDisk }) => containerDisk?.image ?? []),
  );
  await disks.keepOnly(new Set(references), signal);
}

import type { KubeObject, OwnerReference } from '@sheaf/api';
import type {
  PersistentVolumeClaim,
  VirtualMachineImage,
  VirtualMachineTemplateVersion,
} from '@sheaf/api/virtualization/index';
import type { JsonObject } from '@sheaf/base';
import { type ResourceRef, refOf, resources } from '@sheaf/client';
import { claimNameOf, type VolumeSpec } from '../instance-spec.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { type Action, type ActionCall, freshName, readMachine, requiredText, textOf } from './action-call.ts';
import { mayCreate } from './backup-actions.ts';
import { withTemplates } from './claim-templates.ts';
import { createSecrets, mayCopySecrets, readSecrets } from './secret-copies.ts';
import { type SecretUse, withSecrets } from './secret-names.ts';
import { withoutAddresses } from './without-addresses.ts';

export const templateActions: Readonly<Record<string, Action>> = { createTemplate };

/**
 * A template with one version that is like this machine; `withData`: its volumes begin with what is in the machine's now. When
 * one part cannot be made, those before it are taken away again.
 */
async function createTemplate(call: ActionCall): Promise<undefined> {
  const template = requiredText(call, 'name');
  const withData = call.body['withData'] === true;
  await mayCreate(call, resources.virtualMachineTemplates);
  await mayCreate(call, resources.virtualMachineTemplateVersions);
  if (withData) await mayCreate(call, resources.virtualMachineImages);
  const machine = await readMachine(call);
  const version = freshName(call, template, 6);
  const { source, secretNames } = asSource(machine, version);
  await mayCopySecrets(call, secretNames);
  const secrets = await readSecrets(call, secretNames);
  const made = new MadeObjects(call);
  try {
    await made.create(resources.virtualMachineTemplates, {
      metadata: { name: template },
      spec: { description: textOf(call, 'description') },
    });
    const images: VirtualMachineImage[] = [];
    const content = withData ? await withImages(made, source, { version, images }) : source;
    const written = await made.create(
      resources.virtualMachineTemplateVersions,
      versionOf(call, { name: version, template, content }),
    );
    const owner = ownerOf(written);
    for (const image of images) await made.give(image, owner);
    await createSecrets(call, secrets, owner);
  } catch (error) {
    await made.undo();
    throw error;
  }
  return undefined;
}

/** Objects that belong together: all of them stay, or none. */
class MadeObjects {
  readonly call: ActionCall;
  readonly #made: { readonly resource: ResourceRef; readonly object: KubeObject }[] = [];

  constructor(call: ActionCall) {
    this.call = call;
  }

  async create<T extends KubeObject>(resource: ResourceRef<T>, object: T): Promise<T> {
    const { client, place, signal } = this.call;
    const metadata = { ...object.metadata, namespace: place.namespace };
    const made = await client.create(resource, { ...object, metadata }, { signal });
    this.#made.push({ resource, object: made });
    return made;
  }

  async give(image: VirtualMachineImage, owner: OwnerReference): Promise<void> {
    const { client, signal } = this.call;
    const body = { metadata: { ownerReferences: [{ ...owner }] } };
    await client.patch(resources.virtualMachineImages, refOf(image), { type: 'merge', body, signal });
  }

  /** What cannot be taken away stays and is told by nobody: the failure that led here is. */
  async undo(): Promise<void> {
    const { client } = this.call;
    for (const { resource, object } of this.#made.toReversed())
      await client.delete(resource, refOf(object)).catch(() => undefined);
  }
}

/** The machine without what only one machine may have, and which Secrets are to be copied under which names. */
function asSource(
  machine: VirtualMachine,
  version: string,
): { readonly source: VirtualMachine; readonly secretNames: ReadonlyMap<string, string> } {
  const secretNames = new Map<string, string>();
  const { template } = machine.spec;
  const spec = withSecrets(withoutAddresses(template.spec), (original, use) => {
    const copy = secretName(version, use);
    secretNames.set(copy, original);
    return copy;
  });
  const source = { ...machine, spec: { ...machine.spec, template: { ...template, spec } } };
  return { source, secretNames };
}

function secretName(version: string, { volume, credential, purpose }: SecretUse): string {
  const place = volume ?? `credential-${credential ?? 0}`;
  return `templateversion-${version}-${place}-${purpose}`;
}

interface ImageOptions {
  readonly version: string;
  /** Filled with what has been made. */
  readonly images: VirtualMachineImage[];
}

/** Exports each volume as an image, and lets the version begin with these. */
async function withImages(
  made: MadeObjects,
  source: VirtualMachine,
  { version, images }: ImageOptions,
): Promise<VirtualMachine> {
  const { client, place, signal } = made.call;
  const templates: JsonObject[] = [];
  const volumes: VolumeSpec[] = [];
  for (const [index, volume] of (source.spec.template.spec.volumes ?? []).entries()) {
    const claimName = claimNameOf(volume);
    if (claimName === undefined) {
      volumes.push(volume);
      continue;
    }
    const ref = { namespace: place.namespace, name: claimName };
    const claim = await client.get(resources.persistentVolumeClaims, ref, signal);
    const image = await made.create(
      resources.virtualMachineImages,
      imageOf(claim, `templateversion-${version}-image-${index}`),
    );
    images.push(image);
    const name = `templateversion-${version}-disk-${index}`;
    templates.push(claimTemplate(name, claim, image));
    volumes.push({ name: volume.name, persistentVolumeClaim: { claimName: name } });
  }
  const { template } = source.spec;
  const spec = { ...source.spec, template: { ...template, spec: { ...template.spec, volumes } } };
  return withTemplates({ ...source, spec }, templates);
}

function imageOf({ metadata, spec }: PersistentVolumeClaim, name: string): VirtualMachineImage {
  const { namespace = '', name: pvcName = '' } = metadata;
  const { storageClassName = '' } = spec;
  return {
    metadata: {
      name,
      ...(storageClassName === ''
        ? {}
        : { annotations: { 'harvesterhci.io/storageClassName': storageClassName } }),
    },
    spec: { displayName: name, sourceType: 'export-from-volume', pvcName, pvcNamespace: namespace },
  };
}

function claimTemplate(
  name: string,
  { spec }: PersistentVolumeClaim,
  { metadata }: VirtualMachineImage,
): JsonObject {
  const image = `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
  const { accessModes, resources: wanted, volumeMode } = spec;
  // The class that an image gets is named after it.
  const storageClassName = `lh-${metadata.uid ?? ''}`;
  const template = {
    metadata: { name, annotations: { 'harvesterhci.io/imageId': image } },
    spec: { accessModes, resources: wanted, volumeMode, storageClassName },
  };
  return JSON.parse(JSON.stringify(template)) as JsonObject;
}

interface VersionParts {
  readonly name: string;
  readonly template: string;
  readonly content: VirtualMachine;
}

function versionOf(
  { place }: ActionCall,
  { name, template, content }: VersionParts,
): VirtualMachineTemplateVersion {
  const { labels, annotations } = content.metadata;
  const metadata = { ...(labels ? { labels } : {}), ...(annotations ? { annotations } : {}) };
  const keys = content.spec.template.metadata?.annotations?.['harvesterhci.io/sshNames'];
  const version: KubeObject = {
    metadata: { name },
    spec: {
      templateId: `${place.namespace}/${template}`,
      description: `Template derived from virtual machine [${place.namespace}/${place.name}]`,
      vm: { metadata, spec: content.spec },
      keyPairIds: namesIn(keys),
    },
  };
  return version as VirtualMachineTemplateVersion;
}

/** What is no list of names has none. */
function namesIn(text: string | undefined): readonly string[] {
  try {
    const names = JSON.parse(text ?? '[]') as unknown;
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  } catch (error) {
    if (error instanceof SyntaxError) return [];
    throw error;
  }
}

function ownerOf({ metadata }: VirtualMachineTemplateVersion): OwnerReference {
  const { name = '', uid = '' } = metadata;
  return { apiVersion: 'harvesterhci.io/v1beta1', kind: 'VirtualMachineTemplateVersion', name, uid };
}

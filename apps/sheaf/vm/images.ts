import { createHash } from 'node:crypto';
import type { KubeObject } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { type Client, resources } from '@sheaf/client';
import { listAt, textAt } from '../connect.ts';
import type { ImageChoice } from './manifest.ts';
import { type Step, waitFor } from './progress.ts';

/** By `NAMESPACE/NAME`, name or display name. */
export async function findImage(
  client: Client,
  namespace: string,
  word: string,
): Promise<VirtualMachineImage | undefined> {
  const [place = namespace, name = word, ...rest] = word.includes('/') ? word.split('/') : [];
  if (place === '' || name === '' || rest.length > 0) return undefined;
  const found = await client.find(resources.virtualMachineImages, { namespace: place, name });
  if (found) return found;
  const { items } = await client.list(resources.virtualMachineImages, { namespace: place });
  return items.find(({ spec }) => spec.displayName === name);
}

export function isAddress(word: string): boolean {
  return /^https?:\/\//.test(word);
}

/** The image of an address; one that was fetched from there already is used again. */
export async function ensureImage(
  client: Client,
  { namespace, url, name }: { readonly namespace: string; readonly url: string; readonly name?: string },
): Promise<VirtualMachineImage> {
  const { items } = await client.list(resources.virtualMachineImages, { namespace });
  const known = items.find(
    ({ spec }) => spec.url === url && (name === undefined || spec.displayName === name),
  );
  if (known) return known;
  const displayName = name ?? fileNameOf(url);
  const image: VirtualMachineImage = {
    metadata: { namespace, name: objectName(displayName, url) },
    spec: { displayName, sourceType: 'download', url },
  };
  return await client.create(resources.virtualMachineImages, image);
}

function fileNameOf(url: string): string {
  return new URL(url).pathname.split('/').at(-1) || 'image';
}

/** The same words and the same source give the same name. */
export function objectName(displayName: string, source: string): string {
  const stem = displayName
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 40);
  const mark = createHash('sha256').update(source).digest('hex').slice(0, 6);
  return `${stem === '' ? 'image' : stem}-${mark}`;
}

/** Waits until the image can be used, and shows how far it is. */
export async function waitForImage(
  client: Client,
  { metadata, spec }: VirtualMachineImage,
  timeoutSeconds: number,
): Promise<VirtualMachineImage> {
  const { namespace = '', name = '' } = metadata;
  let image: VirtualMachineImage | undefined;
  const step = await waitFor(
    async () => {
      image = await client.find(resources.virtualMachineImages, { namespace, name });
      return imageStep(spec.displayName, image);
    },
    { timeoutSeconds, wayOut: `It goes on by itself: sheaf image ls -n ${namespace}` },
  );
  if (step.outcome === 'done' && image) return image;
  throw new Error(`${step.line}. See sheaf why virtualmachineimage/${name} -n ${namespace}.`);
}

/** How far an image is. */
export function imageStep(displayName: string, image: VirtualMachineImage | undefined): Step {
  if (!image) return { line: `image ${displayName}: it is gone`, outcome: 'failed' };
  const failure = failureOf(image);
  if (failure !== undefined) return { line: `image ${displayName}: ${failure}`, outcome: 'failed' };
  const imported = conditionOf(image, 'Imported');
  if (textAt(imported, 'status') === 'True') return { line: `image ${displayName}: 100 %`, outcome: 'done' };
  const { progress = 0 } = image.status ?? {};
  const trouble = textAt(imported, 'status') === 'False' ? `, ${textAt(imported, 'message')}` : '';
  return { line: `image ${displayName}: ${Math.min(99, progress)} %${trouble}` };
}

/** What someone has to do something about. A download that has failed is tried again by itself, an upload is not. */
function failureOf(image: VirtualMachineImage): string | undefined {
  const { sourceType } = image.spec;
  const fatal = [
    isStatus(conditionOf(image, 'RetryLimitExceeded'), 'True'),
    isStatus(conditionOf(image, 'Initialized'), 'False'),
    sourceType === 'upload' ? isStatus(conditionOf(image, 'Imported'), 'False') : undefined,
  ].find((condition) => condition !== undefined);
  return fatal ? textAt(fatal, 'message') || textAt(fatal, 'reason') : undefined;
}

function isStatus(condition: object | undefined, status: string): object | undefined {
  return textAt(condition, 'status') === status ? condition : undefined;
}

function conditionOf(image: KubeObject, type: string): object | undefined {
  return listAt(image, 'status', 'conditions').find((each) => textAt(each, 'type') === type);
}

/** @throws Error for one that is not imported */
export function choiceOf({ metadata, spec, status }: VirtualMachineImage): ImageChoice {
  const { namespace = '', name = '' } = metadata;
  if (!status?.storageClassName)
    throw new Error(
      `image ${spec.displayName} is not imported yet. Wait for it: sheaf image ls -n ${namespace}`,
    );
  const bytes = Math.max(status.virtualSize ?? 0, status.size ?? 0);
  return { id: `${namespace}/${name}`, storageClassName: status.storageClassName, bytes };
}

import { emptyAnswer, jsonAnswer, letInToNode, type Route, type RouteRequest } from '@sheaf/api';
import { badRequest, type JsonObject, StatusError } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import { type ContainerImage, type ContainerImages, type Containers, readImageName } from '@sheaf/ports';
import { keepImages, releaseImage } from '../room/kept-images.ts';

export interface ImageParts {
  readonly client: Client;
  readonly nodeName: string;
  readonly images: ContainerImages;
  readonly containers: Pick<Containers, 'listContainers'>;
}

const subresource = 'images';
const place = '/v1/sheaf/nodes/{node}/images';
/** What an archive may have at most; its room on the disk is asked before. */
const mostBytes = 2 ** 40;
/** An archive is put aside before its layers are. */
const copies = 2;
const imageId = /^sha256:[0-9a-f]{64}$/;

/** The images that the containers of a node are made from: looked at, loaded from archives, removed. */
export function imageRoutes(parts: ImageParts): readonly Route[] {
  const access = 'authorized';
  return [
    { method: 'GET', path: place, access, handle: (request) => list(parts, request) },
    {
      method: 'POST',
      path: place,
      access,
      isLongRunning: true,
      bodyLimitBytes: mostBytes,
      handle: (request) => load(parts, request),
    },
    {
      method: 'DELETE',
      path: `${place}/{reference...}`,
      access,
      handle: (request) => remove(parts, request),
    },
  ];
}

async function list(parts: ImageParts, request: RouteRequest): Promise<ReturnType<typeof jsonAnswer>> {
  await letInToNode(request, { nodeName: parts.nodeName, subresource, verb: 'list' });
  const [images, users] = await Promise.all([
    parts.images.list(request.signal),
    usersByImage(parts, request.signal),
  ]);
  return jsonAnswer(200, { items: images.map((image) => told(image, users.get(image.id) ?? [])) });
}

async function load(parts: ImageParts, request: RouteRequest): Promise<ReturnType<typeof jsonAnswer>> {
  await letInToNode(request, { nodeName: parts.nodeName, subresource, verb: 'create' });
  const bytes = Number(request.query.get('size') ?? '');
  if (!Number.isSafeInteger(bytes) || bytes <= 0)
    throw badRequest('the size of the archive is missing; add size=BYTES to the query');
  const { freeBytes } = await parts.images.space(request.signal);
  if (bytes * copies > freeBytes)
    throw new StatusError({
      reason: 'RequestEntityTooLarge',
      message: `an archive of ${bytes} bytes needs ${bytes * copies} bytes while it is unpacked, and ${freeBytes} are free; remove images with: sheaf images rm NAME`,
    });
  const loaded = await parts.images.load(request.body.stream(), request.signal);
  await keepImages(parts.client, loaded, request.signal);
  return jsonAnswer(200, { items: loaded.map((image) => told(image, [])) });
}

async function remove(parts: ImageParts, request: RouteRequest): Promise<ReturnType<typeof emptyAnswer>> {
  await letInToNode(request, { nodeName: parts.nodeName, subresource, verb: 'delete' });
  const { images } = parts;
  const { reference: text = '' } = request.parameters;
  const reference = imageId.test(text) ? text : readImageName(text)?.stored;
  if (reference === undefined) throw badRequest(`${JSON.stringify(text)} is no name of an image`);
  const found = await images.find(reference, request.signal);
  if (!found)
    throw new StatusError({ reason: 'NotFound', message: `there is no image ${text} on this node` });
  const users = (await usersByImage(parts, request.signal)).get(found.id) ?? [];
  if (users.length > 0)
    throw new StatusError({
      reason: 'Conflict',
      message: `image ${text} is used by ${users.join(', ')}; delete what uses it first`,
    });
  await images.remove(reference, request.signal);
  if (!(await images.find(found.id, request.signal)))
    await releaseImage(parts.client, found.id, request.signal);
  return emptyAnswer(204);
}

/** Pods by the images that containers of theirs are made from, such as `default/web`. */
async function usersByImage(
  { containers }: ImageParts,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const users = new Map<string, string[]>();
  for (const { imageId: id, title } of await containers.listContainers(signal)) {
    const pod = title.split('/').slice(0, 2).join('/');
    const known = users.get(id) ?? [];
    users.set(id, known.includes(pod) ? known : [...known, pod]);
  }
  return users;
}

function told(image: ContainerImage, users: readonly string[]): JsonObject {
  return {
    id: image.id,
    tags: [...image.tags],
    digests: [...image.digests],
    bytes: image.bytes,
    createdAt: new Date(image.createdAt).toISOString(),
    usedBy: [...users],
  };
}

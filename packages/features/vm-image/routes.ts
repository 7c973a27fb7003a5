import { pipeline } from 'node:stream';
import { createGzip } from 'node:zlib';
import {
  type AccessQuestion,
  type ExtensionAnswer,
  jsonAnswer,
  type PlainAnswer,
  type Route,
  type RouteRequest,
} from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { badRequest, type Clock, StatusError, sleep } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { ImageObservation, Images } from '@sheaf/ports';
import { conditionOf } from './image-conditions.ts';
import { imageIdOf } from './image-names.ts';
import { orderOf } from './image-source.ts';
import type { UploadDesk, UploadedPart } from './upload-desk.ts';

export interface RouteParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly images: Images;
  readonly uploads: UploadDesk;
  readonly maxBytes: number;
}

const place = '/v1/harvester/harvesterhci.io.virtualmachineimages/{namespace}/{name}';
/** For the headers and other fields of a form. */
const formBytes = 1024 * 1024;
const readyMs = 60_000;
const readyLookMs = 250;

/** Upload, how far it is, and download. */
export function imageRoutes(parts: RouteParts): readonly Route[] {
  const progress = { access: 'authorized', path: `${place}/upload` } as const;
  return [
    {
      method: 'POST',
      path: place,
      action: 'upload',
      access: 'authorized',
      isLongRunning: true,
      bodyLimitBytes: parts.maxBytes + formBytes,
      handle: (request) => upload(parts, request),
    },
    { ...progress, method: 'GET', handle: (request) => tellProgress(parts, request) },
    { ...progress, method: 'HEAD', handle: (request) => tellProgress(parts, request) },
    {
      method: 'GET',
      path: `${place}/download`,
      access: 'authorized',
      handle: (request) => download(parts, request),
    },
  ];
}

interface Place {
  readonly namespace: string;
  readonly name: string;
}

function placeIn({ parameters }: RouteRequest): Place {
  return { namespace: parameters['namespace'] ?? '', name: parameters['name'] ?? '' };
}

function question(verb: string, at: Place): AccessQuestion {
  return { verb, group: 'harvesterhci.io', resource: 'virtualmachineimages', ...at };
}

async function upload(parts: RouteParts, request: RouteRequest): Promise<ExtensionAnswer> {
  const at = placeIn(request);
  await request.authorize(question('update', at));
  const found = await parts.client.get(resources.virtualMachineImages, at, request.signal);
  if (found.spec.sourceType !== 'upload')
    throw new StatusError({
      reason: 'Invalid',
      message: `image ${imageIdOf(found)} is no upload but ${found.spec.sourceType}; make one with sourceType upload`,
    });
  const part = await readPart(request, parts.maxBytes);
  const image = await pendingImage(parts, at, request.signal);
  const order = orderOf(image, { kind: 'upload' }, parts.maxBytes);
  const observation = await parts.uploads.receive(order, part, request.signal);
  return jsonAnswer(200, { receivedBytes: observation.receivedBytes, size: part.totalBytes });
}

/** The image, when the controller has ordered a place for its bytes. */
async function pendingImage(
  { client, clock }: RouteParts,
  at: Place,
  signal: AbortSignal,
): Promise<VirtualMachineImage> {
  const endMs = clock.monotonic() + readyMs;
  for (;;) {
    const image = await client.get(resources.virtualMachineImages, at, signal);
    const condition = conditionOf(image, 'Initialized');
    if (condition?.status === 'True') return image;
    if (condition?.status === 'False')
      throw new StatusError({ reason: 'Conflict', message: condition.message ?? 'the image cannot be made' });
    if (clock.monotonic() >= endMs)
      throw new StatusError({
        reason: 'ServiceUnavailable',
        message: `the storage was not ready for image ${imageIdOf(image)} within ${readyMs / 1000} s (${condition?.message ?? 'no controller has looked at it'}); try again later`,
      });
    await sleep(clock, readyLookMs, signal);
  }
}

/** A whole file as a form, as browsers send it; with `offset` a part of it, as a form or as bare bytes. */
async function readPart(request: RouteRequest, maxBytes: number): Promise<UploadedPart> {
  const { query, headers } = request;
  const totalBytes = numberIn(query, 'size');
  if (totalBytes === undefined || totalBytes === 0)
    throw badRequest('the size of the whole file is missing; add size=BYTES to the query');
  if (totalBytes > maxBytes)
    throw new StatusError({
      reason: 'RequestEntityTooLarge',
      message: `${totalBytes} bytes are more than the ${maxBytes} that an image may have; make it smaller, e.g. with qemu-img convert -c -O qcow2`,
    });
  const offset = numberIn(query, 'offset');
  const isForm = String(headers['content-type'] ?? '').startsWith('multipart/');
  if (!isForm && offset === undefined)
    throw badRequest(
      'send the file as the field "chunk" of a multipart/form-data form, or its bytes with offset=0',
    );
  const bytes = isForm ? await chunkOf(request) : request.body.stream();
  return { offset: offset ?? 0, totalBytes, isRest: offset === undefined, bytes };
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  const value = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw badRequest(`${name}=${text} is no number of bytes`);
}

/** The content of the field `chunk`. */
async function chunkOf({ body }: RouteRequest): Promise<AsyncIterable<Uint8Array>> {
  const parts = body.parts()[Symbol.asyncIterator]();
  for (;;) {
    const { done, value } = await parts.next();
    if (done) throw badRequest('the form has no field "chunk"; send the file as that');
    if (value.name === 'chunk') return toTheEnd(value.content, parts);
  }
}

/** Whether the form is whole is known at its end. */
async function* toTheEnd(
  content: AsyncIterable<Uint8Array>,
  parts: AsyncIterator<unknown>,
): AsyncGenerator<Uint8Array> {
  yield* content;
  while (!(await parts.next()).done);
}

async function tellProgress(
  { client, images, uploads }: RouteParts,
  request: RouteRequest,
): Promise<PlainAnswer> {
  const at = placeIn(request);
  await request.authorize(question('get', at));
  const { metadata, status } = await client.get(resources.virtualMachineImages, at, request.signal);
  const { uid = '' } = metadata;
  const observation = await images.find(uid, request.signal);
  const { isActive, totalBytes } = uploads.factsOf(uid);
  const size = totalBytes ?? status?.size ?? 0;
  const receivedBytes = receivedOf(observation);
  const answer = jsonAnswer(200, {
    receivedBytes,
    size,
    isActive,
    state: observation?.progress.state ?? 'pending',
  });
  const headers = {
    ...answer.headers,
    'cache-control': 'no-store',
    'upload-offset': String(receivedBytes),
    'upload-length': String(size),
  };
  return { ...answer, headers };
}

/** Of what was no good, nothing is kept. */
function receivedOf(observation: ImageObservation | undefined): number {
  const progress = observation?.progress;
  if (!observation || (progress?.state === 'failed' && progress.nature === 'fault')) return 0;
  return observation.receivedBytes;
}

async function download({ client, images }: RouteParts, request: RouteRequest): Promise<PlainAnswer> {
  const at = placeIn(request);
  await request.authorize(question('get', at));
  const { metadata, spec } = await client.get(resources.virtualMachineImages, at, request.signal);
  const { content } = await images.read(metadata.uid ?? '', request.signal);
  const fileName = `${spec.displayName.replaceAll(/[^\w.-]/g, '_')}.gz`;
  return {
    kind: 'plain',
    status: 200,
    headers: {
      'content-type': 'application/gzip',
      'content-disposition': `attachment; filename=${fileName}`,
    },
    body: gzipped(content, request.signal),
  };
}

/** Speed goes before size: what is in disks is often packed already. */
function gzipped(content: AsyncIterable<Uint8Array>, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const gzip = createGzip({ level: 1, chunkSize: 64 * 1024 });
  // What goes wrong ends the iteration over it.
  pipeline(content, gzip, () => undefined);
  signal.addEventListener('abort', () => gzip.destroy(new Error('nobody waits for it any more')), {
    once: true,
  });
  return gzip as AsyncIterable<Uint8Array>;
}

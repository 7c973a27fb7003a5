import { type PlainAnswer, type Route, type RouteRequest, textAnswer } from '@sheaf/api';
import type { PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { badRequest, type Clock, StatusError, sleep } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { ImageObservation, ImageOrder, Images } from '@sheaf/ports';
import { awaitsConsumer, isBound, uploadOrder } from './plan.ts';
import type { UploadTarget, UploadTokens } from './upload-tokens.ts';
import type { UploadTurns } from './upload-turns.ts';

/** Takes the bytes of one sender an image; what breaks off can be sent again. */
export interface UploadDesk {
  receive(
    order: ImageOrder,
    part: {
      readonly offset: number;
      readonly totalBytes: number;
      readonly isRest: boolean;
      /** What has come before counts for nothing. */
      readonly isReplacing: boolean;
      readonly bytes: AsyncIterable<Uint8Array>;
    },
    signal: AbortSignal,
  ): Promise<ImageObservation>;
}

export interface ProxyParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly tokens: UploadTokens;
  readonly turns: UploadTurns;
  readonly images: Pick<Images, 'find'>;
  readonly uploads: UploadDesk;
}

/** Beyond what any claim may have. */
const routeBytes = 2 ** 50;
const readyMs = 10_000;
const lookMs = 250;
/** How long a sender that need not wait is kept for the verdict, which most images have by then. */
const verdictMs = 20_000;

/** `/v1beta1/upload` answers when the image is good or refused, `/v1beta1/upload-async` soon. */
export function proxyRoutes(parts: ProxyParts): readonly Route[] {
  return [...place(parts, '/v1beta1/upload', undefined), ...place(parts, '/v1beta1/upload-async', verdictMs)];
}

function place(parts: ProxyParts, path: string, patienceMs: number | undefined): readonly Route[] {
  const shared = {
    path,
    access: 'own-token',
    failure: ({ code, message }: StatusError) => textAnswer(code, message),
  } as const;
  return [
    {
      ...shared,
      method: 'HEAD',
      async handle(request) {
        await readyClaim(parts, request);
        return textAnswer(200, '');
      },
    },
    {
      ...shared,
      method: 'POST',
      isLongRunning: true,
      bodyLimitBytes: routeBytes,
      handle: (request) => upload(parts, request, patienceMs),
    },
  ];
}

async function upload(
  parts: ProxyParts,
  request: RouteRequest,
  patienceMs: number | undefined,
): Promise<PlainAnswer> {
  const claim = await readyClaim(parts, request);
  const totalBytes = lengthOf(request);
  const order = uploadOrder(claim, totalBytes);
  if (totalBytes > order.maxBytes)
    throw new StatusError({
      reason: 'RequestEntityTooLarge',
      message: `${totalBytes} bytes are more than the ${order.maxBytes} that the claim ${claim.metadata.name ?? ''} can take; make one with a larger size`,
    });
  const bytes = request.body.stream();
  const part = { offset: 0, totalBytes, isRest: true, isReplacing: true, bytes };
  const receive = (): Promise<ImageObservation> => parts.uploads.receive(order, part, request.signal);
  const seen = await parts.turns.run(order.id, receive, request.signal);
  await checkVerdict(parts, { seen, patienceMs }, request.signal);
  return textAnswer(200, '');
}

/** The claim of the request's token, when bytes for it can be taken. */
async function readyClaim(parts: ProxyParts, request: RouteRequest): Promise<PersistentVolumeClaim> {
  const target = targetOf(parts.tokens, request);
  const { clock } = parts;
  const endMs = clock.monotonic() + readyMs;
  for (;;) {
    const claim = await findClaim(parts.client, target, request.signal);
    const image = await parts.images.find(uploadOrder(claim).id, request.signal);
    if (image) return claim;
    if (clock.monotonic() >= endMs)
      throw new StatusError({
        reason: 'ServiceUnavailable',
        message: `the claim ${target.name} is not ready to be uploaded to; look at its conditions, and try again`,
      });
    await sleep(clock, lookMs, request.signal);
  }
}

function targetOf(tokens: UploadTokens, { headers }: RouteRequest): UploadTarget {
  const match = /^bearer\s+(\S+)$/i.exec(String(headers['authorization'] ?? ''));
  const target = match?.[1] === undefined ? undefined : tokens.targetOf(match[1]);
  if (target) return target;
  throw new StatusError({
    reason: 'Unauthorized',
    message:
      'the upload token is missing, wrong or too old; create an UploadTokenRequest for the claim and send its status.token as a bearer token',
  });
}

async function findClaim(
  client: Client,
  { namespace, name, uid }: UploadTarget,
  signal: AbortSignal,
): Promise<PersistentVolumeClaim> {
  const claim = await client.find(resources.persistentVolumeClaims, { namespace, name }, signal);
  if (claim?.metadata.uid !== uid || claim.metadata.deletionTimestamp !== undefined)
    throw new StatusError({
      reason: 'NotFound',
      message: `the claim ${namespace}/${name} that the upload was for is gone; ask for a token for another one`,
    });
  if (isBound(claim))
    throw conflict(`the claim ${name} has its content already; for another one, upload to a new claim`);
  if (awaitsConsumer(claim))
    throw conflict(`the claim ${name} waits for its first consumer; upload with --force-bind`);
  return claim;
}

function lengthOf({ headers }: RouteRequest): number {
  const text = String(headers['content-length'] ?? '');
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw badRequest('how many bytes will come is not said; send the file with a Content-Length');
}

interface Sent {
  readonly seen: ImageObservation;
  /** Absent: as long as it takes. */
  readonly patienceMs: number | undefined;
}

/** @throws StatusError 400 with what is wrong with the image, so that its sender hears of it */
async function checkVerdict(
  { images, clock }: ProxyParts,
  { seen, patienceMs }: Sent,
  signal: AbortSignal,
): Promise<void> {
  const endMs = clock.monotonic() + (patienceMs ?? Number.POSITIVE_INFINITY);
  let image: ImageObservation | undefined = seen;
  while (image?.progress.state === 'working' && clock.monotonic() < endMs) {
    await sleep(clock, lookMs, signal);
    image = await images.find(seen.id, signal);
  }
  if (image?.progress.state === 'failed') throw badRequest(`the image is no good: ${image.progress.message}`);
  if (!image) throw conflict('what was sent was removed before it could be used; upload it again');
}

function conflict(message: string): StatusError {
  return new StatusError({ reason: 'Conflict', message });
}

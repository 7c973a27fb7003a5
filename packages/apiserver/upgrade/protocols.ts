import type { UpgradeAnswer } from '@sheaf/api';
import { badRequest, base64Frames, binaryFrames, type FrameCodec } from '@sheaf/base';
import type { ApiRequest, UpgradeOffer } from '../pipeline/api-request.ts';

/** A token that a browser sends in this way is no protocol. */
const tokenPrefix = 'base64url.bearer.authorization.k8s.io.';

type Via = UpgradeOffer['via'];
type Kind = UpgradeAnswer['kind'];

/** What can be spoken inside each upgrade, for each kind of answer; best known first. */
const known: Readonly<Record<Via, Readonly<Record<Kind, readonly string[]>>>> = {
  websocket: {
    // KubeVirt's own, those of Kubernetes for one stream, and the old ones of noVNC.
    bytes: ['plain.kubevirt.io', 'binary.k8s.io', 'binary', 'base64.binary.k8s.io', 'base64'],
    messages: [],
    process: [
      'v5.channel.k8s.io',
      'v4.channel.k8s.io',
      'v4.base64.channel.k8s.io',
      'channel.k8s.io',
      'base64.channel.k8s.io',
    ],
    ports: ['SPDY/3.1+portforward.k8s.io', 'v4.channel.k8s.io', 'v4.base64.channel.k8s.io'],
    relay: [],
  },
  spdy: {
    bytes: [],
    messages: [],
    process: ['v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'],
    ports: ['portforward.k8s.io'],
    relay: [],
  },
};

/** Streams of one kind are taken as they are by clients that name no protocol that is known. */
const isLenient: Readonly<Record<Kind, boolean>> = {
  bytes: true,
  messages: true,
  process: false,
  ports: false,
  relay: true,
};

/**
 * The first of the client's protocols that is known; `undefined` for clients that name none, or do not mind.
 * @throws StatusError 400 where nothing is known that both could speak
 */
export function chooseProtocol(kind: Kind, offer: UpgradeOffer | undefined): string | undefined {
  if (!offer || (offer.via === 'spdy' && known.spdy[kind].length === 0)) throw upgradeRequired(kind);
  if (kind === 'messages') return offer.protocols[0];
  const names = known[offer.via][kind];
  const name = offer.protocols.find((item) => names.includes(item));
  if (name !== undefined || offer.protocols.length === 0 || isLenient[kind]) return name;
  throw badRequest(
    `unable to upgrade: the client speaks ${offer.protocols.join(', ')}; this server speaks ${names.join(', ')}`,
  );
}

/** A request for a stream that could not become one. */
export function upgradeRequired(kind: Kind | undefined): Error {
  const way =
    'as a WebSocket over HTTP/1.1 (GET with Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: 13)';
  const isBoth = kind === 'process' || kind === 'ports';
  return badRequest(
    isBoth
      ? `Upgrade request required: open it ${way}, or with Upgrade: SPDY/3.1`
      : `this is a stream: open it ${way}`,
  );
}

export function isBase64(protocol: string | undefined): boolean {
  return protocol?.includes('base64') ?? false;
}

/** How bytes of one stream travel. */
export function framesOf(protocol: string | undefined): FrameCodec<Uint8Array> {
  return isBase64(protocol) ? base64Frames : binaryFrames;
}

/** Those that a request names, by its headers. */
export function offerOf(headers: ApiRequest['headers']): UpgradeOffer {
  const via = [headers['upgrade']].flat()[0]?.toLowerCase() === 'websocket' ? 'websocket' : 'spdy';
  const header = via === 'websocket' ? 'sec-websocket-protocol' : 'x-stream-protocol-version';
  const protocols = [headers[header] ?? []]
    .flat()
    .flatMap((line) => line.split(','))
    .map((item) => item.trim())
    .filter((item) => item !== '' && !item.startsWith(tokenPrefix));
  return { via, protocols };
}

import type { IncomingMessage } from 'node:http';
import type { UpgradeAnswer } from '@sheaf/api';
import { base64Frames, binaryFrames, type FrameCodec } from '@sheaf/base';

/** A token that a browser sends in this way is no protocol. */
const tokenPrefix = 'base64url.bearer.authorization.k8s.io.';

/** How bytes travel under each subprotocol: KubeVirt's own, those of Kubernetes for one stream, and the old ones of noVNC. */
const byteProtocols: ReadonlyMap<string, FrameCodec<Uint8Array>> = new Map([
  ['plain.kubevirt.io', binaryFrames],
  ['binary.k8s.io', binaryFrames],
  ['binary', binaryFrames],
  ['base64.binary.k8s.io', base64Frames],
  ['base64', base64Frames],
]);

export function offeredProtocols({ headers }: IncomingMessage): readonly string[] {
  return (headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '' && !item.startsWith(tokenPrefix));
}

export interface ChosenProtocol {
  /** `undefined`: none of those that the client offers is known, and it gets bytes as they are. */
  readonly name: string | undefined;
  readonly frames: FrameCodec<Uint8Array>;
}

/** The first of the client's that is known. */
export function chooseProtocol(kind: UpgradeAnswer['kind'], offered: readonly string[]): ChosenProtocol {
  if (kind === 'messages') return { name: offered[0], frames: binaryFrames };
  const name = offered.find((item) => byteProtocols.has(item));
  return { name, frames: (name !== undefined && byteProtocols.get(name)) || binaryFrames };
}

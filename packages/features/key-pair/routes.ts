import { type ExtensionAnswer, type Route, type RouteRequest, textAnswer } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { rsaLine } from './public-key.ts';

/** A new RSA key of 2048 bits, which every guest and every client takes. */
export interface NewKey {
  /** PKCS #1, PEM. It is given to who asked for it and kept nowhere. */
  readonly privateKeyPem: string;
  /** The public half, base64url. */
  readonly public: { readonly n: string; readonly e: string };
}

export interface KeyPairOptions {
  readonly client: Client;
  readonly newKey: () => Promise<NewKey>;
}

/** `POST …?action=keygen {name, namespace}`: makes a key pair and answers with its private half. */
export function keygenRoutes(options: KeyPairOptions): readonly Route[] {
  return ['keypairs', 'keypair'].map((type) => ({
    method: 'POST',
    path: `/v1/harvester/harvesterhci.io.${type}`,
    action: 'keygen',
    access: 'authorized',
    handle: (request) => keygen(request, options),
    failure: (error) => textAnswer(error.code, error.message),
  }));
}

async function keygen(
  { body, authorize, signal }: RouteRequest,
  { client, newKey }: KeyPairOptions,
): Promise<ExtensionAnswer> {
  const { name, namespace } = (await body.json()) ?? {};
  if (typeof name !== 'string' || typeof namespace !== 'string' || name === '' || namespace === '')
    throw new StatusError({
      reason: 'Invalid',
      message: 'InvalidBodyContent: name and namespace are required. Send {"name": "…", "namespace": "…"}.',
    });
  const { keyPairs } = resources;
  await authorize({ verb: 'create', group: keyPairs.group, resource: keyPairs.plural, namespace });
  const key = await newKey();
  const publicKey = rsaLine(key.public);
  await client.create(keyPairs, { metadata: { name, namespace }, spec: { publicKey } }, { signal });
  return {
    kind: 'plain',
    status: 200,
    headers: {
      'content-type': 'application/octet-stream',
      'content-disposition': `attachment; filename=${name}.pem`,
      'cache-control': 'no-store',
    },
    body: Buffer.from(key.privateKeyPem),
  };
}

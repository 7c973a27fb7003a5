import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';

export interface TarFile {
  readonly path: string;
  readonly bytes?: Uint8Array;
  /** `0` a file, `2` a link, `5` a directory … */
  readonly type?: string;
  readonly target?: string;
}

/** A tar archive as programs write it. */
export function tarOf(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap((file) => {
    const bytes = file.bytes ?? new Uint8Array();
    return [headerOf(file, bytes.length), bytes, Buffer.alloc((512 - (bytes.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

function headerOf({ path, type = '0', target = '' }: TarFile, bytes: number): Buffer {
  const header = Buffer.alloc(512);
  header.write(path, 0);
  header.write('0000644\0', 100);
  header.write(`${bytes.toString(8).padStart(11, '0')}\0`, 124);
  header.write(type, 156);
  header.write(target, 157);
  header.write('ustar\x0000', 257);
  header.write(' '.repeat(8), 148);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return header;
}

/** A registry of this test, over plain HTTP. */
export class TestRegistry {
  readonly #server: Server;
  readonly #manifests = new Map<string, Buffer>();
  readonly #blobs = new Map<string, Buffer>();
  /** Manifests that were asked for by a tag. */
  lookups = 0;
  /** `USER:PASSWORD` that is asked for, if any. */
  credentials: string | undefined;

  static async start(): Promise<TestRegistry> {
    const registry = new TestRegistry();
    await new Promise<void>((resolve) => registry.#server.listen(0, '127.0.0.1', resolve));
    return registry;
  }

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  get host(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Layers as they are sent, lowest first. Returns the reference; `isList`: behind a list of images. */
  push(name: string, layers: readonly Uint8Array[], { isList = false } = {}): string {
    const config = this.#addBlob(
      Buffer.from('{"architecture":"amd64","os":"linux","rootfs":{"type":"layers","diff_ids":[]}}'),
    );
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: 'application/vnd.oci.image.manifest.v1+json',
        config: { ...config, mediaType: 'application/vnd.oci.image.config.v1+json' },
        layers: layers.map((layer) => ({
          ...this.#addBlob(Buffer.from(layer)),
          mediaType: 'application/vnd.oci.image.layer.v1.tar+gzip',
        })),
      }),
    );
    const [repository = '', tag = ''] = name.split(':');
    this.#manifests.set(`${repository}/${digestOf(manifest)}`, manifest);
    this.#manifests.set(`${repository}/${tag}`, isList ? this.#listOf(manifest) : manifest);
    return `${this.host}/${name}`;
  }

  /** Files by their path, in one layer. */
  pushFiles(name: string, files: Readonly<Record<string, Uint8Array>>): string {
    const entries = Object.entries(files).map(([path, bytes]) => ({ path: path.slice(1), bytes }));
    return this.push(name, [gzipSync(tarOf(entries))]);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #listOf(manifest: Buffer): Buffer {
    const entry = (architecture: string, digest: string): object => ({
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      digest,
      size: manifest.length,
      platform: { os: 'linux', architecture },
    });
    const architecture = process.arch === 'arm64' ? 'arm64' : 'amd64';
    const manifests = [entry('s390x', `sha256:${'0'.repeat(64)}`), entry(architecture, digestOf(manifest))];
    const mediaType = 'application/vnd.oci.image.index.v1+json';
    return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
  }

  #addBlob(bytes: Buffer): { readonly digest: string; readonly size: number } {
    const digest = digestOf(bytes);
    this.#blobs.set(digest, bytes);
    return { digest, size: bytes.length };
  }

  #answer({ url = '', method, headers }: IncomingMessage, response: ServerResponse): void {
    if (!this.#isKnown(headers.authorization))
      return void response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
    if (url === '/v2/') return void response.writeHead(200).end('{}');
    const found = this.#find(url);
    if (!found) return void response.writeHead(404).end('{"errors":[{"code":"MANIFEST_UNKNOWN"}]}');
    const { bytes, type } = found;
    const length = { 'content-length': bytes.length, 'docker-content-digest': digestOf(bytes) };
    response.writeHead(200, { 'content-type': type, ...length });
    response.end(method === 'HEAD' ? undefined : bytes);
  }

  #isKnown(authorization = ''): boolean {
    const given = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString();
    return this.credentials === undefined || given === this.credentials;
  }

  #find(url: string): { readonly bytes: Buffer; readonly type: string } | undefined {
    const [, repository = '', kind, name = ''] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(url) ?? [];
    if (kind === 'blobs') {
      const blob = this.#blobs.get(name);
      return blob && { bytes: blob, type: 'application/octet-stream' };
    }
    const bytes = this.#manifests.get(`${repository}/${name}`);
    if (bytes && !name.startsWith('sha256:')) this.lookups++;
    return bytes && { bytes, type: mediaTypeOf(bytes) };
  }
}

function mediaTypeOf(manifest: Buffer): string {
  return (JSON.parse(manifest.toString()) as { readonly mediaType: string }).mediaType;
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

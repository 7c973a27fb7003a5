import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { Blob, PackedImage } from './image-archive.ts';

export interface RegistryOptions {
  readonly images: readonly PackedImage[];
  /** With it, everyone has to say who they are. */
  readonly login?: { readonly username: string; readonly password: string };
  /** With it, it speaks only TLS. */
  readonly certificate?: { readonly key: string; readonly cert: string };
  /** Sends only so many bytes of each layer, and nothing more until it is closed. */
  readonly stallsAfterBytes?: number;
}

/** A registry on the loopback that gives out images; it ends when it is closed. */
export class Registry {
  readonly #options: RegistryOptions;
  readonly #server: Server;
  /** How often layers were asked for. */
  layerRequests = 0;

  private constructor(options: RegistryOptions) {
    this.#options = options;
    const answer = (request: IncomingMessage, response: ServerResponse): void =>
      this.#answer(request, response);
    this.#server = options.certificate
      ? createSecureServer(options.certificate, answer)
      : createServer(answer);
  }

  static async open(options: RegistryOptions): Promise<Registry> {
    const registry = new Registry(options);
    await new Promise<void>((resolve) => {
      registry.#server.listen(0, '127.0.0.1', resolve);
    });
    return registry;
  }

  /** `127.0.0.1:PORT`. */
  get address(): string {
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const path = request.url ?? '/';
    if (!this.#isLoggedIn(request)) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end();
      return;
    }
    if (path === '/v2/') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
      return;
    }
    const found = this.#find(path);
    if (found === undefined) {
      const error = { errors: [{ code: 'MANIFEST_UNKNOWN', message: 'manifest unknown' }] };
      response.writeHead(404, { 'content-type': 'application/json' }).end(JSON.stringify(error));
      return;
    }
    this.#send(found, { request, response });
  }

  #isLoggedIn(request: IncomingMessage): boolean {
    const { login } = this.#options;
    if (!login) return true;
    const expected = Buffer.from(`${login.username}:${login.password}`).toString('base64');
    return request.headers.authorization === `Basic ${expected}`;
  }

  #find(path: string): Blob | undefined {
    const [, repository, kind, reference] = /^\/v2\/(.+)\/(manifests|blobs)\/([^/]+)$/.exec(path) ?? [];
    for (const { name, config, layer, manifest } of this.#options.images) {
      const [, own, tag] = /^(?:[^/]+\/)?(.+):([^:/]+)$/.exec(name) ?? [];
      if (own !== repository) continue;
      if (kind === 'manifests' && (reference === tag || reference === manifest.digest)) return manifest;
      const found = [config, layer].find(({ digest }) => kind === 'blobs' && digest === reference);
      if (found) return found;
    }
    return undefined;
  }

  #send(
    blob: Blob,
    { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): void {
    const { stallsAfterBytes } = this.#options;
    const isLayer = this.#options.images.some(({ layer }) => layer === blob);
    if (isLayer) this.layerRequests++;
    response.writeHead(200, {
      'content-type': blob.mediaType,
      'content-length': blob.bytes.length,
      'docker-content-digest': blob.digest,
    });
    if (request.method === 'HEAD') response.end();
    else if (isLayer && stallsAfterBytes !== undefined)
      response.write(blob.bytes.subarray(0, stallsAfterBytes));
    else response.end(blob.bytes);
  }
}

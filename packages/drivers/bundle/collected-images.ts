import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isJsonObject, type JsonObject } from '@sheaf/base';
import type { BundledImage } from '@sheaf/ports';
import { engineLayout } from '../podman/engine-layout.ts';
import { hostPlatform } from './host-platform.ts';
import type { PartStore } from './part-store.ts';
import { BundleError, runTool } from './run-tool.ts';

export interface ImageCollectorOptions {
  readonly parts: PartStore;
  /** For what is under way; on the file system of the parts. */
  readonly work: string;
  /** Of a Sheaf on this host, whose images are taken where it has them; it need not exist. */
  readonly engineDirectory: string;
  /** Registries are asked without looking at certificates. */
  readonly isInsecure: boolean;
  readonly signal: AbortSignal;
}

const listTypes: ReadonlySet<string> = new Set([
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
]);
const hostPolicy = '/etc/containers/policy.json';
const ociManifest = 'application/vnd.oci.image.manifest.v1+json';

/** Gets images, by skopeo: from the store of a Sheaf on this host, else from their registries, byte by byte as these have them. */
export class ImageCollector {
  readonly #options: ImageCollectorOptions;
  #count = 0;

  constructor(options: ImageCollectorOptions) {
    this.#options = options;
  }

  /** `reference`: as image stores know it. @throws BundleError */
  async collect(reference: string): Promise<BundledImage> {
    // What a digest names is in no store in the form that it had in its registry.
    if (!reference.includes('@') && (await this.#isStored(reference))) return this.#fromStore(reference);
    try {
      return await this.#fromRegistry(reference);
    } catch (error) {
      if (!(error instanceof BundleError)) throw error;
      throw new BundleError(
        `the image ${reference} cannot be had: ${error.message}; log in with skopeo login, or load it into this Sheaf first: sheaf images import FILE`,
        { cause: error },
      );
    }
  }

  async #isStored(reference: string): Promise<boolean> {
    if (!existsSync(this.#storageConf)) return false;
    const asked = ['inspect', '--raw', `containers-storage:${reference}`];
    return this.#skopeo(asked, 'store').then(
      () => true,
      (error: unknown) => {
        if (error instanceof BundleError) return false;
        throw error;
      },
    );
  }

  async #fromStore(reference: string): Promise<BundledImage> {
    const directory = await this.#place();
    await this.#skopeo(
      ['copy', '--quiet', `containers-storage:${reference}`, `oci:${directory}:image`],
      'store',
    );
    const index = JSON.parse(await readFile(join(directory, 'index.json'), 'utf8')) as JsonObject;
    const [manifest] = Array.isArray(index['manifests']) ? index['manifests'].filter(isJsonObject) : [];
    const digest = textAt(manifest, 'digest');
    const blobs = join(directory, 'blobs', 'sha256');
    return {
      reference,
      digest,
      mediaType: textAt(manifest, 'mediaType'),
      parts: await this.#take(blobs, digest),
    };
  }

  async #fromRegistry(reference: string): Promise<BundledImage> {
    const repository = reference.replace(/@.*$|:[^/:]*$/, '');
    const raw = await this.#skopeo(
      ['inspect', '--raw', `docker://${reference}`, ...this.#insecure()],
      'registry',
    );
    const top = JSON.parse(raw.toString('utf8')) as JsonObject;
    const { digest } = await this.#options.parts.addBytes(raw);
    const mediaType = mediaTypeOf(top);
    const own = listTypes.has(mediaType) ? instanceOf(top) : digest;
    const directory = await this.#place();
    const to = ['--preserve-digests', `docker://${repository}@${own}`, `dir:${directory}`];
    await this.#skopeo(['copy', '--quiet', ...to, ...this.#insecure('--src-')], 'registry');
    return { reference, digest, mediaType, parts: await this.#take(directory, own) };
  }

  /** Everything of a manifest that lies in a directory, but the manifest that the image is named by. */
  async #take(directory: string, manifest: string): Promise<readonly string[]> {
    const taken: string[] = [];
    for (const name of (await readdir(directory)).toSorted()) {
      if (name === 'version') continue;
      const { digest } = await this.#options.parts.move(join(directory, name));
      const isNamed = name === 'manifest.json' ? digest === manifest : digest === `sha256:${name}`;
      if (!isNamed) throw new BundleError(`${name} has the content of ${digest}`);
      taken.push(digest);
    }
    return taken;
  }

  get #storageConf(): string {
    return engineLayout(this.#options.engineDirectory).storageConf;
  }

  #insecure(prefix = '--'): readonly string[] {
    return this.#options.isInsecure ? [`${prefix}tls-verify=false`] : [];
  }

  async #place(): Promise<string> {
    const directory = join(this.#options.work, `image-${this.#count++}`);
    await mkdir(directory, { recursive: true });
    return directory;
  }

  async #skopeo(args: readonly string[], source: 'store' | 'registry'): Promise<Buffer> {
    const { signal } = this.#options;
    const environment = source === 'store' ? { CONTAINERS_STORAGE_CONF: this.#storageConf } : {};
    // The host's own policy says whose signatures are wanted, where it has one.
    const isTrusted = source === 'store' || !existsSync(hostPolicy);
    return await runTool('skopeo', [...(isTrusted ? ['--insecure-policy'] : []), ...args], {
      signal,
      environment,
    });
  }
}

function mediaTypeOf(manifest: JsonObject): string {
  const { mediaType } = manifest;
  if (typeof mediaType === 'string') return mediaType;
  if (Array.isArray(manifest['manifests'])) return 'application/vnd.oci.image.index.v1+json';
  if (Array.isArray(manifest['layers'])) return ociManifest;
  throw new BundleError(
    'its registry keeps it in a form that is not known; push it again with a program of today',
  );
}

/** The manifest for this host. */
function instanceOf(list: JsonObject): string {
  const all = Array.isArray(list['manifests']) ? list['manifests'].filter(isJsonObject) : [];
  const fitting = all.find(({ platform }) => {
    const of = isJsonObject(platform) ? platform : {};
    return `${textAt(of, 'os')}/${textAt(of, 'architecture')}` === hostPlatform();
  });
  if (!fitting) throw new BundleError(`there is none of it for ${hostPlatform()}`);
  return textAt(fitting, 'digest');
}

function textAt(value: JsonObject | undefined, field: string): string {
  const text = value?.[field];
  return typeof text === 'string' ? text : '';
}

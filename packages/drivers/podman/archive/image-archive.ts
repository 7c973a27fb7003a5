import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type TarEntry, tarFile } from './tar.ts';

/** An image of one layer. */
export interface ImageContent {
  /** With its registry and tag: `localhost/name:1`. */
  readonly name: string;
  readonly entries: readonly TarEntry[];
  readonly entryPoint?: readonly string[];
  readonly arguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly user?: string;
  readonly workingDirectory?: string;
  readonly stopSignal?: string;
  /** In the words of container images; that of this process, if absent. */
  readonly architecture?: string;
}

export interface Blob {
  readonly mediaType: string;
  /** `sha256:` and hex. */
  readonly digest: string;
  readonly bytes: Buffer;
}

/** The parts of an image as registries and OCI layouts hold them. */
export interface PackedImage {
  readonly name: string;
  readonly config: Blob;
  readonly layer: Blob;
  readonly manifest: Blob;
}

const oci = 'application/vnd.oci.image';

/** The architecture of this process in the words of container images. */
export function imageArchitecture(): string {
  return process.arch === 'x64' ? 'amd64' : process.arch;
}

/** The same content makes the same digests. */
export function packImage(content: ImageContent): PackedImage {
  const tar = tarFile(content.entries);
  const layer = blob(`${oci}.layer.v1.tar+gzip`, gzipSync(tar, { level: 1 }));
  const config = blob(`${oci}.config.v1+json`, json(configOf(content, digestOf(tar))));
  const manifest = {
    schemaVersion: 2,
    mediaType: `${oci}.manifest.v1+json`,
    config: descriptor(config),
    layers: [descriptor(layer)],
  };
  return { name: content.name, config, layer, manifest: blob(manifest.mediaType, json(manifest)) };
}

/** Images as `docker save` writes them. */
export function dockerArchive(contents: readonly ImageContent[]): Buffer {
  const entries = new Map<string, TarEntry>();
  const manifest = contents.map((content) => {
    const tar = tarFile(content.entries);
    const diffId = digestOf(tar);
    const config = json(configOf(content, diffId));
    const configPath = `${hexOf(digestOf(config))}.json`;
    const layerPath = `${hexOf(diffId)}.tar`;
    entries.set(configPath, { path: configPath, content: config, mode: 0o644 });
    entries.set(layerPath, { path: layerPath, content: tar, mode: 0o644 });
    return { Config: configPath, RepoTags: [content.name], Layers: [layerPath] };
  });
  return tarFile([{ path: 'manifest.json', content: json(manifest), mode: 0o644 }, ...entries.values()]);
}

/** An OCI layout in a tar file. */
export function ociArchive(content: ImageContent): Buffer {
  const { config, layer, manifest, name } = packImage(content);
  const index = {
    schemaVersion: 2,
    manifests: [{ ...descriptor(manifest), annotations: { 'org.opencontainers.image.ref.name': name } }],
  };
  return tarFile([
    { path: 'oci-layout', content: json({ imageLayoutVersion: '1.0.0' }), mode: 0o644 },
    { path: 'index.json', content: json(index), mode: 0o644 },
    { path: 'blobs' },
    { path: 'blobs/sha256' },
    ...[config, layer, manifest].map(({ digest, bytes }) => ({
      path: `blobs/sha256/${hexOf(digest)}`,
      content: bytes,
      mode: 0o644,
    })),
  ]);
}

function configOf(content: ImageContent, diffId: string): unknown {
  return {
    architecture: content.architecture ?? imageArchitecture(),
    os: 'linux',
    created: '1970-01-01T00:00:00Z',
    config: {
      Env: Object.entries(content.environment ?? {}).map(([name, value]) => `${name}=${value}`),
      ...(content.entryPoint && { Entrypoint: content.entryPoint }),
      ...(content.arguments && { Cmd: content.arguments }),
      ...(content.user !== undefined && { User: content.user }),
      ...(content.workingDirectory !== undefined && { WorkingDir: content.workingDirectory }),
      ...(content.stopSignal !== undefined && { StopSignal: content.stopSignal }),
    },
    rootfs: { type: 'layers', diff_ids: [diffId] },
    history: [{ created: '1970-01-01T00:00:00Z' }],
  };
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function blob(mediaType: string, bytes: Buffer): Blob {
  return { mediaType, digest: digestOf(bytes), bytes };
}

function descriptor({ mediaType, digest, bytes }: Blob): Record<string, unknown> {
  return { mediaType, digest, size: bytes.length };
}

function digestOf(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

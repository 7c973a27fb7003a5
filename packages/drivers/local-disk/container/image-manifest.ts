import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { SourceFault } from '../http-source.ts';

export interface Layer {
  /** `sha256:` and 64 digits. */
  readonly digest: string;
  readonly bytes: number;
}

/** What a registry answers: the layers of one image, lowest first, or where the image for this machine is. */
export type Manifest =
  | { readonly kind: 'image'; readonly layers: readonly Layer[] }
  | { readonly kind: 'elsewhere'; readonly digest: string };

const mostLayers = 512;
const digestPattern = /^sha256:[0-9a-f]{64}$/;

/** `architecture`: as Go names it. @throws SourceFault */
export function readManifest(text: string, architecture: string): Manifest {
  const manifest = parsed(text);
  if (Array.isArray(manifest['manifests'])) return chosen(manifest['manifests'], architecture);
  const { layers } = manifest;
  if (!Array.isArray(layers))
    throw new SourceFault(
      'it is kept in a form of the registry that is not known; push it again with a program of today',
    );
  if (layers.length > mostLayers) throw new SourceFault(`it has more than ${mostLayers} layers`);
  return { kind: 'image', layers: layers.map(layerOf) };
}

function parsed(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new SourceFault('what the registry says of it is no JSON', { cause: error });
  }
  if (isJsonObject(value)) return value;
  throw new SourceFault('what the registry says of it is not a manifest');
}

function chosen(manifests: readonly JsonValue[], architecture: string): Manifest {
  const all = manifests.filter(isJsonObject);
  const fitting = all.find(({ platform }) => {
    if (!isJsonObject(platform)) return false;
    return platform['os'] === 'linux' && platform['architecture'] === architecture;
  });
  if (!fitting) throw new SourceFault(`there is none of it for linux/${architecture}`);
  return { kind: 'elsewhere', digest: digestOf(fitting) };
}

function layerOf(value: JsonValue): Layer {
  const layer = isJsonObject(value) ? value : {};
  const { size } = layer;
  if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
    throw new SourceFault('a layer of it has no size');
  return { digest: digestOf(layer), bytes: size };
}

/** Digests become file names. */
function digestOf({ digest }: JsonObject): string {
  if (typeof digest === 'string' && digestPattern.test(digest)) return digest;
  throw new SourceFault(`${JSON.stringify(digest ?? null)} is no digest that is known here`);
}

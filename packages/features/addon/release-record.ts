import { gunzipSync } from 'node:zlib';
import { decodeYaml, type KubeObject } from '@sheaf/api';

/** What Helm keeps of one revision of a release, as far as it tells what stays of it. */
export interface ReleaseRecord {
  readonly namespace: string;
  /** What is taken away with the release. */
  readonly objects: readonly KubeObject[];
  readonly hooks: readonly KubeObject[];
  /** Definitions in `crds/` of the chart itself; those of its parts are not kept. */
  readonly definitions: readonly KubeObject[];
}

interface StoredRelease {
  readonly namespace?: string;
  readonly manifest?: string;
  readonly hooks?: readonly { readonly manifest?: string }[];
  readonly chart?: { readonly files?: readonly { readonly name?: string; readonly data?: string }[] };
}

/** @param stored `release` of Helm's own object, as it is read: gzipped JSON in base64. @throws Error if it is none */
export function readRelease(stored: string): ReleaseRecord {
  const text = gunzipSync(Buffer.from(stored, 'base64')).toString('utf8');
  const { namespace = '', manifest = '', hooks = [], chart } = JSON.parse(text) as StoredRelease;
  const files = (chart?.files ?? []).filter(({ name = '' }) => name.startsWith('crds/'));
  return {
    namespace,
    objects: objectsIn(manifest),
    hooks: hooks.flatMap((hook) => objectsIn(hook.manifest ?? '')),
    definitions: files.flatMap(({ data = '' }) => objectsIn(Buffer.from(data, 'base64').toString('utf8'))),
  };
}

/** Documents are parted by lines that hold nothing else; texts within them are indented. */
function objectsIn(documents: string): readonly KubeObject[] {
  return documents
    .split(/^---(?:\s.*)?$/m)
    .filter((text) => /^[^\s#]/m.test(text))
    .flatMap((text) => partsOf(decodeYaml(Buffer.from(text)).value as KubeObject));
}

function partsOf(object: KubeObject): readonly KubeObject[] {
  const { items, kind = '' } = object as KubeObject & { readonly items?: readonly KubeObject[] };
  return kind.endsWith('List') && items ? items : [object];
}

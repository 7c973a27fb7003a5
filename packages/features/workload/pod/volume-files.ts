import type { DownwardAPIVolumeFile, KeyToPath, Pod, VolumeProjection } from '@sheaf/api/workload/index';
import type { DiskFile, VolumeFile } from '@sheaf/ports';
import { fieldOf, resourceOf } from './pod-fields.ts';

type Bytes = ReadonlyMap<string, Uint8Array>;

/** The disk behind a claim, or why there is none yet. */
export type ClaimDisk =
  | { readonly volumeId: string; readonly disk: DiskFile; readonly isReadOnly: boolean }
  | { readonly problem: string };

/** What volumes are filled with; `undefined`: there is none of that name. */
export interface VolumeContent {
  configMap(name: string): Bytes | undefined;
  secret(name: string): Bytes | undefined;
  /** A token of the pod's account for an audience. */
  token(order: { readonly audience: string; readonly seconds: number }): string | undefined;
  disk(claimName: string): ClaimDisk;
  readonly hostAddress: string;
  readonly podAddresses: readonly string[];
  readonly allocatable: Readonly<Record<string, string>>;
}

export type Files = { readonly files: readonly VolumeFile[] } | { readonly problem: string };

const plainMode = 0o644;
const ownMode = 0o600;
const defaultTokenSeconds = 3600;

interface Keyed {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
  readonly optional?: boolean;
}

interface KeyedSurroundings {
  readonly content: VolumeContent;
  readonly defaultMode: number | undefined;
}

/** A file for each key of a map or a secret, or for those that are named. */
export function keyedFiles(
  kind: 'configmap' | 'secret',
  { name = '', items, optional }: Keyed,
  { content, defaultMode = plainMode }: KeyedSurroundings,
): Files {
  const found = kind === 'configmap' ? content.configMap(name) : content.secret(name);
  if (!found) return optional ? { files: [] } : { problem: `${kind} ${JSON.stringify(name)} not found` };
  if (!items) return { files: [...found].map(([path, bytes]) => ({ path, bytes, mode: defaultMode })) };
  const missing = items.find(({ key }) => !found.has(key));
  if (missing && !optional)
    return {
      problem: `references non-existent ${kind === 'secret' ? 'secret' : 'config'} key: ${missing.key}`,
    };
  return { files: items.flatMap((item) => namedFile(item, found, defaultMode)) };
}

function namedFile({ key, path, mode }: KeyToPath, found: Bytes, defaultMode: number): readonly VolumeFile[] {
  const bytes = found.get(key);
  return bytes ? [{ path, bytes, mode: mode ?? defaultMode }] : [];
}

interface PodSurroundings {
  readonly pod: Pod;
  readonly content: VolumeContent;
  readonly defaultMode: number | undefined;
}

/** What a pod is, as files. */
export function downwardFiles(items: readonly DownwardAPIVolumeFile[], around: PodSurroundings): Files {
  const files: VolumeFile[] = [];
  for (const item of items) {
    const text = downwardText(item, around);
    if (text === undefined) return { problem: `unsupported field ${item.fieldRef?.fieldPath ?? item.path}` };
    const mode = item.mode ?? around.defaultMode ?? plainMode;
    files.push({ path: item.path, bytes: Buffer.from(text), mode });
  }
  return { files };
}

function downwardText(
  { fieldRef, resourceFieldRef }: DownwardAPIVolumeFile,
  { pod, content }: PodSurroundings,
): string | undefined {
  if (fieldRef) return fieldOf({ pod, ...content }, fieldRef.fieldPath);
  const [container] = pod.spec.containers;
  if (!resourceFieldRef || !container) return undefined;
  return resourceOf({ pod, container, allocatable: content.allocatable }, resourceFieldRef);
}

/** Several sources in one directory; of two with one path the later one wins. */
export function projectedFiles(sources: readonly VolumeProjection[], around: PodSurroundings): Files {
  const files = new Map<string, VolumeFile>();
  for (const source of sources) {
    const own = projections
      .map((projection) => projection(source, around))
      .find((each) => each !== undefined);
    if (!own)
      return { problem: `unsupported source ${Object.keys(source).join(', ')} of a projected volume` };
    if ('problem' in own) return own;
    for (const file of own.files) files.set(file.path, file);
  }
  return { files: [...files.values()] };
}

/** The first that knows the source answers. */
const projections: readonly ((source: VolumeProjection, around: PodSurroundings) => Files | undefined)[] = [
  ({ configMap }, around) => configMap && keyedFiles('configmap', configMap, around),
  ({ secret }, around) => secret && keyedFiles('secret', secret, around),
  ({ downwardAPI }, around) => downwardAPI && downwardFiles(downwardAPI.items ?? [], around),
  ({ serviceAccountToken }, { pod, content }) => {
    if (!serviceAccountToken) return undefined;
    const { audience = '', expirationSeconds: seconds = defaultTokenSeconds, path } = serviceAccountToken;
    const token = content.token({ audience, seconds });
    if (token === undefined) return { problem: 'a token of its service account is not there yet' };
    return { files: [{ path, bytes: Buffer.from(token), mode: tokenMode(pod) }] };
  },
];

/** Who does not run as the administrator has to be able to read it. */
function tokenMode({ spec }: Pod): number {
  const { fsGroup, runAsUser } = spec.securityContext ?? {};
  const users = spec.containers.map(({ securityContext }) => securityContext?.runAsUser);
  const isShared = [fsGroup, runAsUser, ...users].some((id) => id !== undefined);
  return isShared ? plainMode : ownMode;
}

/** The tokens that the volumes of a pod need. */
export function tokensOf({ spec }: Pod): readonly { readonly audience: string; readonly seconds: number }[] {
  return (spec.volumes ?? [])
    .flatMap(({ projected }) => projected?.sources ?? [])
    .flatMap(({ serviceAccountToken: token }) =>
      token
        ? [{ audience: token.audience ?? '', seconds: token.expirationSeconds ?? defaultTokenSeconds }]
        : [],
    );
}

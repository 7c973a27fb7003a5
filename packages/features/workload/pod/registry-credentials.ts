import type { KubeObject } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import type { PullOrder } from '@sheaf/ports';

type Credentials = NonNullable<PullOrder['credentials']>;

interface Entry {
  readonly username?: string;
  readonly password?: string;
  readonly auth?: string;
}

/** Who may pull an image, as the pull secrets of a pod say: the most exact entry first. */
export function credentialsFor(
  { spec }: Pod,
  reference: string,
  secretOf: (name: string) => KubeObject | undefined,
): readonly Credentials[] {
  const entries = (spec.imagePullSecrets ?? []).flatMap(({ name = '' }) => entriesOf(secretOf(name)));
  return entries
    .filter(([place]) => matches(place, reference))
    .toSorted(([a], [b]) => b.length - a.length)
    .flatMap(([, entry]) => readEntry(entry));
}

function entriesOf(secret: KubeObject | undefined): readonly (readonly [string, Entry])[] {
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const decoded = (key: string): Readonly<Record<string, unknown>> => {
    try {
      return JSON.parse(Buffer.from(data[key] ?? '', 'base64').toString()) as Readonly<
        Record<string, unknown>
      >;
    } catch {
      // Not what its type says: pulling fails with the words of the registry.
      return {};
    }
  };
  const auths = (decoded('.dockerconfigjson')['auths'] ?? decoded('.dockercfg')) as Readonly<
    Record<string, Entry>
  >;
  return Object.entries(auths);
}

/** `registry`, `registry/path` or with a scheme; `*` stands for one part of a host name. */
function matches(place: string, reference: string): boolean {
  const bare = place
    .replace(/^https?:\/\//, '')
    .replace(/\/(?:v[12]\/?)?$/, '')
    .replace(/^(?:index|registry-1)\.docker\.io$/, 'docker.io');
  const [host = '', ...path] = bare.split('/');
  const [registry = '', ...repository] = reference.split('/');
  const pattern = new RegExp(`^${host.replaceAll('.', '\\.').replaceAll('*', '[^.]*')}$`);
  return pattern.test(registry) && repository.join('/').startsWith(path.join('/'));
}

function readEntry({ username, password, auth }: Entry): readonly Credentials[] {
  if (username && password) return [{ username, password }];
  const text = Buffer.from(auth ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  return colon > 0 ? [{ username: text.slice(0, colon), password: text.slice(colon + 1) }] : [];
}

import { type Account, readPath } from './pod-account.ts';

export interface FailedHook {
  readonly namespace: string;
  /** Of Helm. */
  readonly words: string;
}

const keptLines = 10;
const longestLine = 300;

/** The last lines of the hook that Helm names, below a line that says whose they are. Why there are none is said, too. */
export async function hookLog(
  account: Account,
  { namespace, words }: FailedHook,
): Promise<readonly string[]> {
  const hook = hookIn(words);
  if (!hook) return [];
  try {
    const found = await failedContainer(account, namespace, hook);
    if (!found) return [`the pod of the ${hook.kind} ${hook.name} has gone, and its log with it`];
    const path = `/api/v1/namespaces/${namespace}/pods/${found.pod}/log?container=${found.container}&tailLines=${keptLines}`;
    const lines = (await readPath(account, path))
      .trimEnd()
      .split('\n')
      .filter((line) => line !== '');
    const head = `the end of the log of the Pod ${namespace}/${found.pod}:`;
    return lines.length === 0
      ? [`the log of the Pod ${namespace}/${found.pod} is empty`]
      : [head, ...lines.map((line) => line.slice(0, longestLine))];
  } catch (error) {
    return [`the log of the ${hook.kind} ${hook.name} cannot be read: ${(error as Error).message}`];
  }
}

interface Hook {
  readonly kind: 'job' | 'pod';
  readonly name: string;
}

/** In the words of Helm 3: `job web-check failed: BackoffLimitExceeded`; of Helm 4: `resource Job/default/web-check not ready`. */
const namings = [
  /\bresource (Job|Pod)\/[^/\s]+\/(\S+) not ready/,
  /\b([Jj]ob|[Pp]od) ([a-z0-9][-a-z0-9.]*) failed/,
];

export function hookIn(words: string): Hook | undefined {
  const found = namings.map((naming) => naming.exec(words)).find((match) => match !== null);
  const [, kind = '', name = ''] = found ?? [];
  return found ? { kind: kind.toLowerCase() === 'pod' ? 'pod' : 'job', name } : undefined;
}

interface PodList {
  readonly items: readonly {
    readonly metadata: { readonly name: string; readonly creationTimestamp: string };
    readonly status?: {
      readonly containerStatuses?: readonly {
        readonly name: string;
        readonly state?: { readonly terminated?: { readonly exitCode: number } };
      }[];
    };
  }[];
}

async function failedContainer(
  account: Account,
  namespace: string,
  { kind, name }: Hook,
): Promise<{ readonly pod: string; readonly container: string } | undefined> {
  const query = kind === 'pod' ? `fieldSelector=metadata.name%3D${name}` : `labelSelector=job-name%3D${name}`;
  const { items } = JSON.parse(
    await readPath(account, `/api/v1/namespaces/${namespace}/pods?${query}`),
  ) as PodList;
  const newest = items.toSorted((a, b) =>
    a.metadata.creationTimestamp < b.metadata.creationTimestamp ? 1 : -1,
  );
  for (const { metadata, status } of newest) {
    const failed = status?.containerStatuses?.find(({ state }) => (state?.terminated?.exitCode ?? 0) !== 0);
    if (failed) return { pod: metadata.name, container: failed.name };
  }
  return undefined;
}

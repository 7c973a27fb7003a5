import type { KubeObject } from '@sheaf/api';
import { type Client, DiscoveryReader, preferredResources, type ServedResource } from '@sheaf/client';
import type { Arguments } from './arguments.ts';
import { followChain } from './chain.ts';
import type { ClusterView, Link } from './cluster-view.ts';
import { readReport, withClient } from './connect.ts';
import { runShape } from './run-command.ts';
import { UsageError } from './up-options.ts';

const usage = `Usage: sheaf why KIND/NAME [options]

Follows what an object waits for to the end of the chain, and says what can be done there.
KIND is a kind or a plural, with its group where that is needed: pod, deployments.apps.

  -n, --namespace NS   default: default, else the only one that has such an object
  -o, --output json    for programs
  --data-dir DIR       the data directory of the server
`;

const options = {
  namespace: { type: 'string', short: 'n' },
  output: { type: 'string', short: 'o' },
} as const;

/** `sheaf why KIND/NAME`: 0 also when something waits; 1 when the object is not there. */
export function why(args: readonly string[]): Promise<number> {
  return runShape({ name: 'why', usage, positionals: 1, options, run }, args);
}

function run({ positionals: [target = ''], flags, dataDir }: Arguments): Promise<number> {
  const slash = target.indexOf('/');
  if (slash < 1) throw new UsageError(`expected KIND/NAME, not ${JSON.stringify(target)}`);
  const [kind, name] = [target.slice(0, slash), target.slice(slash + 1)];
  return withClient(dataDir, async (client) => {
    const namespace = flags['namespace'];
    const links = await explain(client, {
      kind,
      name,
      ...(namespace ? { namespace: String(namespace) } : {}),
    });
    const text = flags['output'] === 'json' ? `${JSON.stringify(links, undefined, 2)}\n` : chainText(links);
    process.stdout.write(text);
    return 0;
  });
}

interface Target {
  readonly kind: string;
  readonly name: string;
  /** Where it is to be; without one it is looked for. */
  readonly namespace?: string;
}

export async function explain(client: Client, { kind, name, namespace }: Target): Promise<Link[]> {
  const [served, report] = await Promise.all([new DiscoveryReader(client).read(), readReport(client)]);
  const resources = preferredResources(served, ['get', 'list']);
  const resource = resources.find((item) => isMeant(item, kind.toLowerCase()));
  if (!resource) throw new Error(`the server knows no kind ${JSON.stringify(kind)}`);
  const view: ClusterView = {
    resources,
    controllers: report.controllers,
    find: (ref, object) => client.find(ref, object),
    list: async (ref, inside) =>
      (await client.list(ref, inside === undefined ? {} : { namespace: inside })).items,
  };
  return followChain(view, resource, await objectMeant(view, resource, { name, namespace }));
}

const usualNamespace = 'default';

async function objectMeant(
  view: ClusterView,
  resource: ServedResource,
  { name, namespace }: { readonly name: string; readonly namespace: string | undefined },
): Promise<KubeObject> {
  const { kind, namespaced } = resource;
  const near = await view.find(
    resource,
    namespaced ? { namespace: namespace ?? usualNamespace, name } : { name },
  );
  if (near) return near;
  const place = namespaced && namespace !== undefined ? ` in ${namespace}` : '';
  const others = namespaced && namespace === undefined ? await view.list(resource, undefined) : [];
  const [found, another] = others.filter(({ metadata }) => metadata.name === name);
  if (!found) throw new Error(`there is no ${kind} ${name}${place}`);
  if (!another) return found;
  const places = [found, another].map(({ metadata }) => metadata.namespace).join(', ');
  throw new Error(`several namespaces have a ${kind} ${name} (${places}): name one with -n`);
}

const shortNames: Readonly<Record<string, string>> = {
  ns: 'namespaces',
  po: 'pods',
  deploy: 'deployments',
  rs: 'replicasets',
  sts: 'statefulsets',
  ds: 'daemonsets',
  svc: 'services',
  cm: 'configmaps',
  sa: 'serviceaccounts',
  pvc: 'persistentvolumeclaims',
  pv: 'persistentvolumes',
  no: 'nodes',
  crd: 'customresourcedefinitions',
  vm: 'virtualmachines',
  vmi: 'virtualmachineinstances',
  dv: 'datavolumes',
  vs: 'volumesnapshots',
  sc: 'storageclasses',
  vmimage: 'virtualmachineimages',
  vmbackup: 'virtualmachinebackups',
  vmrestore: 'virtualmachinerestores',
  vmtemplate: 'virtualmachinetemplates',
  kp: 'keypairs',
};

function isMeant({ group, plural, kind }: ServedResource, word: string): boolean {
  const wanted = Object.hasOwn(shortNames, word) ? shortNames[word] : word;
  return [kind.toLowerCase(), plural].some((own) => wanted === own || wanted === `${own}.${group}`);
}

export function chainText(links: readonly Link[]): string {
  const lines = links.flatMap(({ depth, object, text, wayOut }) => {
    const indent = depth === 0 ? '' : `${'   '.repeat(depth - 1)}└─ `;
    const under = '   '.repeat(depth);
    return [`${indent}${object}: ${text}`, ...(wayOut ? [`${under}   way out: ${wayOut}`] : [])];
  });
  return `${lines.join('\n')}\n`;
}

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type ResourceRef, resources } from '@sheaf/client';
import { type AddonHost, namespace } from '../../addons/addon-host.ts';
import { remainsOf } from '../../workloads/container-remains.ts';
import { operationProcesses } from './operation-processes.ts';

export const name = 'pages';

/** What an add-on that is on is to be: deployed once with these words, served, and nothing of an operation is left half done. */
export async function findingsOn(host: AddonHost, text: string): Promise<readonly string[]> {
  const { status } = await host.addon(name);
  if (status?.status !== 'AddonDeploySuccessful')
    return [`it is ${status?.status}: ${JSON.stringify(status?.conditions)}`];
  const pages = await host.page(name);
  const found = [
    ...(pages === `${text} 1.0.0\n` ? [] : [`it serves ${JSON.stringify(pages)}, not ${text}`]),
    ...(await recordFindings(host)),
    ...(await jobFindings(host)),
    ...(await podFindings(host)),
    ...(await processFindings(host)),
  ];
  return found.length > 0 ? found : releaseFindings(host);
}

/** As helm tells it; asked last, for it takes the most. */
async function releaseFindings(host: AddonHost): Promise<readonly string[]> {
  const releases = await host.releases();
  return releases.join() === 'pages-1.0.0 deployed' ? [] : [`the releases are ${releases.join()}`];
}

/** The newest revision is deployed, and no other is. An earlier one that was cut off stays in the history as what it was. */
async function recordFindings({ client }: AddonHost): Promise<readonly string[]> {
  const { items } = await client.list(resources.secrets, {
    namespace,
    labelSelector: `owner=helm,name=${name}`,
  });
  const states = items
    .map(({ metadata: { labels = {} } }) => ({
      version: Number(labels['version']),
      status: labels['status'],
    }))
    .toSorted((a, b) => b.version - a.version)
    .map(({ status }) => status);
  const isRight = states[0] === 'deployed' && !states.includes('deployed', 1);
  return isRight ? [] : [`its revisions are ${states.join(', ')}`];
}

async function jobFindings({ client }: AddonHost): Promise<readonly string[]> {
  const { items } = await client.list(resources.jobs, { namespace });
  const names = items.map(({ metadata }) => metadata.name ?? '');
  return names.join() === `helm-install-${name}` ? [] : [`the Jobs are ${names.join()}`];
}

/** One that serves, and none that runs beside it. */
async function podFindings({ client }: AddonHost): Promise<readonly string[]> {
  const { items } = await client.list(resources.pods, { namespace });
  const open = items.filter(({ status }) => status?.phase !== 'Succeeded' && status?.phase !== 'Failed');
  const names = open.map(({ metadata }) => metadata.name ?? '');
  return names.length === 1 ? [] : [`the pods are ${names.join()}`];
}

async function processFindings({ directory }: AddonHost): Promise<readonly string[]> {
  return (await operationProcesses(directory)).map(({ id, part }) => `the ${part} ${id} is still at work`);
}

/** Everything that a chart is made of, and what operations are made of. */
const kinds: readonly ResourceRef[] = [
  resources.helmCharts,
  resources.jobs,
  resources.pods,
  resources.deployments,
  resources.replicaSets,
  resources.services,
  resources.secrets,
  resources.configMaps,
  resources.serviceAccounts,
];

/** Made by nobody here. */
const ownNames: ReadonlySet<string> = new Set(['default', 'kubernetes', 'kube-root-ca.crt']);

/** What is there of an add-on that is off, though nothing is to be. */
export async function findingsOff(host: AddonHost): Promise<readonly string[]> {
  const { status } = await host.addon(name);
  if (status?.status !== 'AddonDisabled')
    return [`it is ${status?.status}: ${JSON.stringify(status?.conditions)}`];
  const { client, directory } = host;
  const objects = await Promise.all(
    kinds.map(async (kind) => {
      const { items } = await client.list(kind, { namespace });
      return items
        .map(({ metadata }) => metadata.name ?? '')
        .filter((each) => !ownNames.has(each))
        .map((each) => `${kind.kind} ${each}`);
    }),
  );
  const bindings = await client.list(resources.clusterRoleBindings);
  const found = [
    ...objects.flat(),
    ...bindings.items
      .map(({ metadata }) => metadata.name ?? '')
      .filter((each) => each.startsWith('helm-'))
      .map((each) => `ClusterRoleBinding ${each}`),
    ...(await noteFindings(host)),
    ...(await programFiles(directory)),
    ...(await processFindings(host)),
  ];
  if (found.length > 0) return found.map((each) => `${each} is left`);
  const releases = (await host.releases()).map((release) => `release ${release}`);
  return [...releases, ...(await remainsOf(directory))].map((each) => `${each} is left`);
}

/** An object of a kind that the chart has brought; the kind stays on purpose. */
async function noteFindings({ client }: AddonHost): Promise<readonly string[]> {
  const answer = await client.send({
    method: 'GET',
    target: `/apis/addons.sheaf.test/v1/namespaces/${namespace}/notes`,
  });
  const text = await answer.text();
  if (answer.status === 404) return [];
  const { items = [] } = JSON.parse(text) as {
    readonly items?: readonly { readonly metadata: { readonly name: string } }[];
  };
  return items.map(({ metadata }) => `Note ${metadata.name}`);
}

async function programFiles(directory: string): Promise<readonly string[]> {
  const places = ['sandboxes', 'runs', 'logs', 'events'].map((place) => join('programs', place));
  const found = await Promise.all(
    places.map(async (place) => {
      const names = await readdir(join(directory, place)).catch(() => []);
      return names.map((each) => `file ${join(place, each)}`);
    }),
  );
  return found.flat();
}

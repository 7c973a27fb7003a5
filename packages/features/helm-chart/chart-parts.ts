import type { KubeObject } from '@sheaf/api';
import { type JsonValue, jsonEqual, StatusError } from '@sheaf/base';
import { type Client, type ResourceRef, refOf, resources } from '@sheaf/client';
import { type OperationFacts, ownerReference } from './chart-job.ts';
import { chartLabel, namesOf } from './chart-names.ts';
import { valuesData } from './chart-values.ts';

interface Part {
  readonly resource: ResourceRef;
  readonly object: KubeObject;
  /** Fields that are ours. */
  readonly fields: readonly string[];
}

/** What an operation works with, beside its Job: an account with its rights, the values, a chart that is part of the object. */
export function partsOf(facts: OperationFacts): readonly Part[] {
  const { chart, config } = facts;
  const names = namesOf(chart);
  const { namespace, account } = names;
  const metadataOf = (name: string): KubeObject['metadata'] => ({
    namespace,
    name,
    labels: { [chartLabel]: names.name },
    ownerReferences: [ownerReference(chart)],
  });
  const content = chart.spec?.chartContent ?? '';
  return [
    {
      resource: resources.serviceAccounts,
      object: { metadata: metadataOf(account), automountServiceAccountToken: true },
      fields: ['automountServiceAccountToken'],
    },
    {
      resource: resources.clusterRoleBindings,
      object: {
        metadata: { name: names.binding, labels: { [chartLabel]: names.name } },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
        subjects: [{ kind: 'ServiceAccount', name: account, namespace }],
      },
      fields: ['subjects'],
    },
    {
      resource: resources.secrets,
      object: {
        metadata: metadataOf(names.values),
        type: 'helmcharts.helm.cattle.io/values',
        data: encoded(valuesData(chart, config)),
      },
      fields: ['data'],
    },
    ...(content === ''
      ? []
      : [
          {
            resource: resources.configMaps,
            object: { metadata: metadataOf(names.content), data: { [`${names.name}.tgz.base64`]: content } },
            fields: ['data'],
          },
        ]),
  ];
}

function encoded(data: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(data).map(([key, text]) => [key, Buffer.from(text).toString('base64')]),
  );
}

/** Makes what is missing and puts right what differs. */
export async function ensureParts(client: Client, facts: OperationFacts, signal: AbortSignal): Promise<void> {
  for (const part of partsOf(facts)) await ensure(client, part, signal);
}

async function ensure(
  client: Client,
  { resource, object, fields }: Part,
  signal: AbortSignal,
): Promise<void> {
  const found = await client.find(resource, refOf(object), signal);
  if (!found) {
    try {
      await client.create(resource, object, { signal });
    } catch (error) {
      if (!StatusError.is(error, 'AlreadyExists')) throw error;
    }
    return;
  }
  const isOurs = fields.every((field) =>
    jsonEqual((found[field] ?? {}) as JsonValue, (object[field] ?? {}) as JsonValue),
  );
  const owners = found.metadata.ownerReferences ?? [];
  const wantedOwners = object.metadata.ownerReferences ?? owners;
  const isOwned = wantedOwners.every(({ uid }) => owners.some((owner) => owner.uid === uid));
  if (isOurs && isOwned) return;
  const own = Object.fromEntries(fields.map((field) => [field, object[field]]));
  await client.update(
    resource,
    { ...found, ...own, metadata: { ...found.metadata, ownerReferences: wantedOwners } },
    { signal },
  );
}

import { type Connection, connect, type Request } from '../client/connection.ts';
import type { Target } from '../client/kubeconfig.ts';

const group = 'bench.sheaf.test';

/** The custom resource of all measurements: about 800 bytes of specification under a structural schema. */
export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `items.${group}` },
  spec: {
    group,
    scope: 'Namespaced',
    names: { plural: 'items', singular: 'item', kind: 'Item', listKind: 'ItemList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                required: ['size'],
                properties: {
                  size: { type: 'integer', minimum: 0 },
                  stamp: { type: 'string' },
                  mode: { type: 'string', enum: ['fast', 'slow'], default: 'fast' },
                  text: { type: 'string', maxLength: 2000 },
                  parts: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: {
                        name: { type: 'string' },
                        address: { type: 'string' },
                        port: { type: 'integer' },
                        options: { type: 'object', additionalProperties: { type: 'string' } },
                      },
                    },
                  },
                },
              },
            },
          },
        },
      },
    ],
  },
};

const parts = Array.from({ length: 4 }, (_, index) => ({
  name: `part-${index}`,
  address: `10.0.${index}.${index + 1}`,
  port: 8000 + index,
  options: { zone: 'europe-north', tier: `tier-${index}` },
}));
const text = 'The measured object carries some text. '.repeat(8);

export function itemBody(name: string, stamp: string): string {
  return JSON.stringify({
    apiVersion: `${group}/v1`,
    kind: 'Item',
    metadata: { name, labels: { bench: 'yes', half: name.endsWith('1') ? 'odd' : 'even' } },
    spec: { size: 3, stamp, text, parts },
  });
}

export function itemsPath(namespace: string): string {
  return `/apis/${group}/v1/namespaces/${namespace}/items`;
}

export function itemName(index: number): string {
  return `item-${String(index).padStart(6, '0')}`;
}

/** Makes the definition (if it is not there) and a namespace, and waits until items can be listed. */
export async function prepareNamespace(connection: Connection, namespace: string): Promise<void> {
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await connection.request({ method: 'POST', path: definitions, body: JSON.stringify(definition) });
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await expectSuccess(connection, { method: 'POST', path: '/api/v1/namespaces', body });
  const deadline = performance.now() + 30_000;
  while ((await connection.request({ method: 'GET', path: itemsPath(namespace) })).status !== 200) {
    if (performance.now() > deadline) throw new Error('the custom resource is not served after 30 s');
  }
  // The first creation after a definition may be held back by the server; it is not part of any figure.
  await expectSuccess(connection, {
    method: 'POST',
    path: itemsPath(namespace),
    body: itemBody('first', '0'),
  });
  await expectSuccess(connection, { method: 'DELETE', path: `${itemsPath(namespace)}/first` });
}

export async function expectSuccess(connection: Connection, request: Request): Promise<Buffer> {
  const answer = await connection.request(request);
  if (answer.status >= 400)
    throw new Error(
      `${request.method} ${request.path}: ${answer.status} ${answer.body.toString('utf8', 0, 500)}`,
    );
  return answer.body;
}

/** Deletes a collection. A server may cut a long deletion at its request deadline; then it is asked again, as clients do. */
export async function deleteUntilEmpty(target: Target, path: string): Promise<void> {
  for (let attempt = 0; attempt < 20; attempt++) {
    const connection = await connect(target, 'http/1.1');
    const answer = await connection.request({ method: 'DELETE', path }).catch(() => undefined);
    connection.close();
    if (answer?.status === 200 && (await isEmpty(target, path))) return;
  }
  throw new Error('the collection is not empty after twenty deletions');
}

async function isEmpty(target: Target, path: string): Promise<boolean> {
  const connection = await connect(target, 'http/1.1');
  const left = await expectSuccess(connection, { method: 'GET', path: `${path}?limit=1` });
  connection.close();
  return left.includes('"items":[]');
}

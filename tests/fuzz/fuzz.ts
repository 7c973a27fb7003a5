import { StatusError } from '@sheaf/base';
import type { ResourceRef } from '@sheaf/client';
import { SeededRandom, startTestServer, TestClock, testAdmin } from '@sheaf/testkit';
import { randomRequest } from './requests.ts';
import type { FuzzRequest } from './well-formed.ts';

export interface FuzzOptions {
  readonly seed: number;
  readonly requests: number;
}

export interface FuzzResult {
  /** Answers by status code. */
  readonly statuses: ReadonlyMap<number, number>;
  /** Requests that were answered with 500 or more, or not at all. */
  readonly failures: readonly string[];
  /** The longest that the server was busy with one request, in milliseconds; told, not judged. */
  readonly slowestMs: number;
}

const widgetDefinition = {
  metadata: { name: 'widgets.example.com' },
  spec: {
    group: 'example.com',
    scope: 'Namespaced',
    names: { plural: 'widgets', singular: 'widget', kind: 'Widget', listKind: 'WidgetList' },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: {
                  name: { type: 'string', maxLength: 10, pattern: '^[a-z]*$' },
                  replicas: { type: 'integer', default: 1, minimum: 0 },
                  list: {
                    type: 'array',
                    maxItems: 20,
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['key'],
                    items: {
                      type: 'object',
                      required: ['key'],
                      properties: { key: { type: 'string' }, value: { 'x-kubernetes-int-or-string': true } },
                    },
                  },
                  any: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
                },
                'x-kubernetes-validations': [{ rule: '!has(self.replicas) || self.replicas < 100' }],
              },
              status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
            },
          },
        },
      },
    ],
  },
};

const namespaces: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};
/** Without one in their namespace, no pods are taken. */
const accounts: ResourceRef = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};
const definitions: ResourceRef = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
};

/** Sends random malformed requests to a server in memory. The same seed sends the same requests. */
export async function fuzz({ seed, requests }: FuzzOptions): Promise<FuzzResult> {
  const random = new SeededRandom(seed);
  const test = await startTestServer({ clock: new TestClock(), random: new SeededRandom(seed + 1) });
  const statuses = new Map<number, number>();
  const failures: string[] = [];
  let slowestMs = 0;
  try {
    await test.client.create(namespaces, { metadata: { name: 'fuzz' } });
    await test.client.create(accounts, { metadata: { name: 'default', namespace: 'fuzz' } });
    await test.client.create(definitions, widgetDefinition);
    for (let index = 0; index < requests; index++) {
      const request = randomRequest(random);
      const started = performance.now();
      const outcome = await send(test.server.handle, request);
      slowestMs = Math.max(slowestMs, performance.now() - started);
      statuses.set(outcome.status, (statuses.get(outcome.status) ?? 0) + 1);
      if (outcome.status >= 500 && !isAllowed(outcome))
        failures.push(describeFailure(index, request, outcome.text));
    }
  } finally {
    await test.close();
  }
  return { statuses, failures, slowestMs };
}

/** A wait for a version that never comes ends as 504, a pod on a node that nobody runs as 503: both are right. */
function isAllowed({ status, text }: { status: number; text: string }): boolean {
  return (status === 504 && text.includes('Too large resource version')) || status === 503;
}

type Handle = Awaited<ReturnType<typeof startTestServer>>['server']['handle'];

async function send(handle: Handle, request: FuzzRequest): Promise<{ status: number; text: string }> {
  const stop = new AbortController();
  const waiting = setTimeout(() => stop.abort(new Error('fuzz: no answer')), 200);
  try {
    const response = await handle({
      ...request,
      readBody: () => Promise.resolve(request.body),
      signal: stop.signal,
      trustedUser: testAdmin,
      remoteAddress: '127.0.0.1',
    });
    const text = response.body.kind === 'bytes' ? Buffer.concat(response.body.chunks).toString('utf8') : '';
    return { status: response.status, text };
  } catch (error) {
    return {
      status: 599,
      text: StatusError.is(error) ? error.message : String(error instanceof Error ? error.stack : error),
    };
  } finally {
    clearTimeout(waiting);
  }
}

function describeFailure(
  index: number,
  { method, path, query, headers, body }: FuzzRequest,
  text: string,
): string {
  return `#${index} ${method} ${path}?${query} ${JSON.stringify(headers)} ${Buffer.from(body).toString('utf8').slice(0, 400)}\n   -> ${text.slice(0, 600)}`;
}

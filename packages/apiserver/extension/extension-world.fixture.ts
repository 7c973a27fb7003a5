import assert from 'node:assert/strict';
import { once } from 'node:events';
import { AuditLog } from '@sheaf/apiserver/audit/index';
import { RequestMetrics } from '@sheaf/apiserver/metrics/index';
import { InFlight } from '@sheaf/apiserver/pipeline/in-flight';
import { joinedObserver } from '@sheaf/apiserver/pipeline/request-observer';
import { MetricsRegistry, silentLogger } from '@sheaf/base';
import { systemClock } from '@sheaf/drivers/system';
import { WebSocket } from 'ws';
import { type ExtensionServer, post, startExtensionServer } from './extension-server.fixture.ts';

export const root = '/apis/subresources.kubevirt.io/v1/namespaces/default';
export const console = `${root}/virtualmachineinstances/vm1/console`;

/** A server with extensions over HTTP, and what is counted and audited of its requests. */
export class ExtensionWorld {
  readonly metrics = new MetricsRegistry();
  readonly audited: string[] = [];
  readonly audit: AuditLog;
  #server: ExtensionServer | undefined;

  static async open(): Promise<ExtensionWorld> {
    const world = new ExtensionWorld();
    const inFlight = new InFlight();
    const requests = new RequestMetrics({
      metrics: world.metrics,
      clock: systemClock,
      inFlight,
      registry: () => world.#server?.test.server.registry,
    });
    world.#server = await startExtensionServer({
      inFlight,
      observer: joinedObserver([requests, world.audit]),
    });
    return world;
  }

  private constructor() {
    this.audit = new AuditLog({
      file: {
        append: (lines) => Promise.resolve(void this.audited.push(...lines.trimEnd().split('\n'))),
        close: () => Promise.resolve(),
      },
      clock: systemClock,
      logger: silentLogger,
      metrics: this.metrics,
    });
  }

  get server(): ExtensionServer {
    return this.#server ?? assert.fail('it has not been started');
  }

  async close(): Promise<void> {
    await this.server.close();
    await this.audit.close();
  }

  /** Status and message of what is not answered. */
  async refusal(target: string, request: object = {}): Promise<string> {
    const answer = await this.server.client.send({ method: 'GET', target, ...request });
    const text = await answer.text();
    if (answer.status < 400) assert.fail(`${answer.status} ${text}`);
    const { message: words } = JSON.parse(text) as { message: string };
    return `${answer.status} ${words}`;
  }

  open(target: string, options: { protocols?: string[]; headers?: Record<string, string> } = {}): WebSocket {
    const { authority, credentials } = this.server.admin;
    const isAdmin = !options.headers?.['authorization'] && !options.protocols?.[0]?.startsWith('base64url.');
    return new WebSocket(`${this.server.url.replace('https', 'wss')}${target}`, options.protocols ?? [], {
      ca: authority,
      ...('certificate' in credentials && isAdmin
        ? { cert: credentials.certificate, key: credentials.privateKey.reveal() }
        : {}),
      headers: options.headers ?? {},
    });
  }
}

export async function message(socket: WebSocket): Promise<{ text: string; isBinary: boolean }> {
  const [data, isBinary] = (await once(socket, 'message')) as [Buffer, boolean];
  return { text: data.toString(), isBinary };
}

/** The right to read subresources of machines. */
export async function grant(
  server: ExtensionServer,
  account: string,
  resources: readonly string[],
): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1/namespaces/default';
  await server.client.send(
    post(`${rbac}/roles`, {
      metadata: { name: account },
      rules: [{ apiGroups: ['subresources.kubevirt.io'], resources, verbs: ['get'] }],
    }),
  );
  await server.client.send(
    post(`${rbac}/rolebindings`, {
      metadata: { name: account },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: account },
      subjects: [{ kind: 'ServiceAccount', name: account, namespace: 'default' }],
    }),
  );
}

/** Events only announce; the state is looked at. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5));
}

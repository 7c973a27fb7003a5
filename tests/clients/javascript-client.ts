import { readFile } from 'node:fs/promises';
import { type RequestOptions, request } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import {
  ApiException,
  type Informer,
  KubeConfig,
  type KubernetesListObject,
  type KubernetesObject,
  KubernetesObjectApi,
  makeInformer,
  type ObjectCache,
  PatchStrategy,
  Watch,
} from '@kubernetes/client-node';
import { parse } from 'yaml';
import { valueAt } from '../transcript/predicates.ts';
import type { ClientStep, Scenario, StepResult } from './scenario.ts';

const patchTypes: Readonly<Record<string, PatchStrategy>> = {
  json: PatchStrategy.JsonPatch,
  merge: PatchStrategy.MergePatch,
  strategic: PatchStrategy.StrategicMergePatch,
};
const waitMilliseconds = 15_000;

/** Runs the scenario with @kubernetes/client-node and gives the result of each step. */
export async function runJavascriptClient(
  kubeconfig: string,
  scenarioFile: string,
  namespace: string,
): Promise<readonly StepResult[]> {
  const scenario = parse(await readFile(scenarioFile, 'utf8')) as Scenario;
  const client = new JavascriptClient(kubeconfig, scenario, namespace);
  const results: StepResult[] = [];
  for (const step of scenario.steps) results.push({ step: step.name, result: await client.run(step) });
  client.stop();
  return results;
}

class JavascriptClient {
  readonly #config = new KubeConfig();
  readonly #api: KubernetesObjectApi;
  readonly #scenario: Scenario;
  readonly #namespace: string;
  readonly #events = new Map<string, string[]>();
  readonly #watches: AbortController[] = [];
  readonly #informers = new Map<string, Informer<KubernetesObject> & ObjectCache<KubernetesObject>>();

  constructor(kubeconfig: string, scenario: Scenario, namespace: string) {
    this.#config.loadFromFile(kubeconfig);
    this.#api = KubernetesObjectApi.makeApiClient(this.#config);
    this.#scenario = scenario;
    this.#namespace = namespace;
  }

  async run(step: ClientStep): Promise<unknown> {
    try {
      return await this.#dispatch(step);
    } catch (error) {
      if (!(error instanceof ApiException)) throw error;
      const status = (typeof error.body === 'string' ? JSON.parse(error.body) : error.body) as {
        reason?: string;
      };
      return { error: { code: error.code, reason: status.reason } };
    }
  }

  stop(): void {
    for (const watch of this.#watches) watch.abort();
    for (const informer of this.#informers.values()) void informer.stop();
  }

  #dispatch(step: ClientStep): Promise<unknown> {
    const operations: Readonly<Record<ClientStep['op'], () => Promise<unknown>>> = {
      create: async () => shown(step, await this.#api.create(this.#object(step))),
      get: async () => shown(step, await this.#api.read(this.#reference(step))),
      list: () => this.#list(step),
      update: () => this.#update(step),
      patch: () => this.#patch(step),
      apply: () => this.#apply(step),
      delete: () => this.#delete(step),
      'delete-collection': () => this.#deleteCollection(step),
      watch: () => this.#watch(step),
      events: () => this.#seen(step),
      informer: () => this.#inform(step),
      cached: () => this.#cached(step),
    };
    return operations[step.op]();
  }

  #type(step: ClientStep): { apiVersion: string; kind: string } {
    const { apiVersion = '', kind = '' } = this.#scenario.resources[step.resource ?? ''] ?? {};
    return { apiVersion, kind };
  }

  #path(step: ClientStep): string {
    const resource = this.#scenario.resources[step.resource ?? ''];
    const prefix = resource?.apiVersion === 'v1' ? '/api/v1' : `/apis/${resource?.apiVersion}`;
    return `${prefix}/namespaces/${this.#namespace}/${resource?.plural}`;
  }

  #object(step: ClientStep): KubernetesObject {
    const object: KubernetesObject = structuredClone(step.object ?? {});
    const metadata = Object.assign({}, object.metadata, { namespace: this.#namespace });
    return Object.assign(this.#type(step), object, { metadata });
  }

  #reference(step: ClientStep): KubernetesObject & { metadata: { name: string; namespace: string } } {
    return { ...this.#type(step), metadata: { name: step.target ?? '', namespace: this.#namespace } };
  }

  async #list(step: ClientStep): Promise<unknown> {
    const { apiVersion, kind } = this.#type(step);
    const names: string[] = [];
    let pages = 0;
    let next: string | undefined;
    do {
      const page = await this.#api.list(
        ...([apiVersion, kind, this.#namespace, undefined, undefined, undefined] as const),
        ...([step.fieldSelector, step.labelSelector, step.limit, next] as const),
      );
      names.push(...page.items.map((item) => item.metadata?.name ?? ''));
      pages++;
      next = page.metadata?._continue;
    } while (next !== undefined && next !== '');
    return { names, pages };
  }

  async #update(step: ClientStep): Promise<unknown> {
    const current = await this.#api.read(this.#reference(step));
    const changed: KubernetesObject = Object.assign(current, step.set);
    if (step.stale === true && changed.metadata !== undefined) changed.metadata.resourceVersion = '1';
    return shown(step, await this.#api.replace(changed));
  }

  async #patch(step: ClientStep): Promise<unknown> {
    if (step.subresource !== undefined || Array.isArray(step.body)) return this.#rawPatch(step);
    const reference = this.#reference(step);
    const patch: KubernetesObject = Object.assign({}, reference, step.body);
    patch.metadata = Object.assign({}, patch.metadata, reference.metadata);
    const type = patchTypes[step.type ?? 'merge'];
    return shown(step, await this.#api.patch(patch, undefined, undefined, undefined, undefined, type));
  }

  /** What the object client has no words for: subresources and patches that are lists. */
  async #rawPatch(step: ClientStep): Promise<unknown> {
    const subresource = step.subresource === undefined ? '' : `/${step.subresource}`;
    return this.#send(step, 'PATCH', `/${step.target}${subresource}`, {
      type: patchTypes[step.type ?? 'merge'] ?? '',
      body: step.body,
    });
  }

  async #apply(step: ClientStep): Promise<unknown> {
    const object = this.#object(step);
    const type = PatchStrategy.ServerSideApply;
    return shown(
      step,
      await this.#api.patch(object, undefined, undefined, step.manager, step.force ?? false, type),
    );
  }

  async #delete(step: ClientStep): Promise<unknown> {
    const body = step.uid === undefined ? undefined : { preconditions: { uid: step.uid } };
    await this.#api.delete(
      this.#reference(step),
      ...([undefined, undefined, undefined, undefined, undefined] as const),
      body,
    );
    return { deleted: true };
  }

  async #deleteCollection(step: ClientStep): Promise<unknown> {
    await this.#send(step, 'DELETE', `?labelSelector=${encodeURIComponent(step.labelSelector ?? '')}`);
    return { deleted: true };
  }

  async #send(
    step: ClientStep,
    method: string,
    suffix: string,
    content?: { readonly type: string; readonly body: unknown },
  ): Promise<unknown> {
    const options: RequestOptions = { method };
    await this.#config.applyToHTTPSOptions(options);
    if (content !== undefined)
      options.headers = Object.assign({}, options.headers, { 'content-type': content.type });
    const url = `${this.#config.getCurrentCluster()?.server}${this.#path(step)}${suffix}`;
    const answer = await exchange(url, options, content === undefined ? '' : JSON.stringify(content.body));
    const body = JSON.parse(answer.body) as { reason?: string };
    if (answer.status >= 400) return { error: { code: answer.status, reason: body.reason } };
    return shown(step, body);
  }

  async #watch(step: ClientStep): Promise<unknown> {
    const events: string[] = [];
    this.#events.set(step.as ?? '', events);
    const query = step.labelSelector === undefined ? {} : { labelSelector: step.labelSelector };
    const onEvent = (type: string, object: KubernetesObject): void => {
      events.push(`${type} ${object.metadata?.name}`);
    };
    const watch = new Watch(this.#config);
    this.#watches.push(await watch.watch(this.#path(step), query, onEvent, () => undefined));
    await until(() => events.length > 0);
    return {};
  }

  async #seen(step: ClientStep): Promise<unknown> {
    const events = this.#events.get(step.as ?? '') ?? [];
    await until(() => events.includes(step.until ?? ''));
    return { events: [...events] };
  }

  async #inform(step: ClientStep): Promise<unknown> {
    const { apiVersion, kind } = this.#type(step);
    const list = (): Promise<KubernetesListObject<KubernetesObject>> =>
      this.#api.list(
        ...([apiVersion, kind, this.#namespace, undefined, undefined, undefined] as const),
        ...([undefined, step.labelSelector] as const),
      );
    const informer = makeInformer(this.#config, this.#path(step), list, step.labelSelector);
    this.#informers.set(step.as ?? '', informer);
    await informer.start();
    return {};
  }

  async #cached(step: ClientStep): Promise<unknown> {
    const names = (): readonly string[] =>
      (this.#informers.get(step.as ?? '')?.list(this.#namespace) ?? [])
        .map((object) => object.metadata?.name ?? '')
        .toSorted();
    await until(() => names().join() === (step.names ?? []).join());
    return { names: names() };
  }
}

function shown(step: ClientStep, object: unknown): unknown {
  return Object.fromEntries((step.show ?? []).map((path) => [path, valueAt(object, path) ?? null]));
}

/** Waits until the condition holds or the time is over; the result that follows shows which. */
async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + waitMilliseconds;
  while (!condition() && performance.now() < deadline) await delay(20);
}

function exchange(
  url: string,
  options: RequestOptions,
  body: string,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = request(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString('utf8') }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

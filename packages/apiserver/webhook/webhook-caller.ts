import { isJsonObject, type JsonObject, toError } from '@sheaf/base';
import type { LiveViews } from '../storage/live-view.ts';
import { resolveService } from '../upstream/service-targets.ts';
import type { WebhookAnswer, WebhookClient, WebhookTarget } from './webhook-client.ts';

export interface WebhookCallOptions {
  /** `admissionregistration` or conversion `clientConfig`: `url` or `service`, and `caBundle`. */
  readonly clientConfig: JsonObject;
  readonly timeoutSeconds: number;
  readonly signal: AbortSignal;
}

const usualPort = 443;

/** Calls webhooks as configurations describe them. */
export class WebhookCaller {
  readonly #views: LiveViews;
  readonly #client: WebhookClient | undefined;

  /** Without a client every call fails and says so. */
  constructor(views: LiveViews, client: WebhookClient | undefined) {
    this.#views = views;
    this.#client = client;
    // Service references are looked up in these from the first call on.
    for (const [group, resource] of serviceViews) views.of(group, resource);
  }

  /** The answer's JSON object. @throws Error whose message names the address and the fault */
  async call(body: string, options: WebhookCallOptions): Promise<JsonObject> {
    const { timeoutSeconds, signal } = options;
    if (!this.#client) throw new Error('this server has no means to call webhooks');
    const url = `${baseUrl(options.clientConfig)}?timeout=${timeoutSeconds}s`;
    let answer: WebhookAnswer;
    try {
      const target = this.#targetOf(options.clientConfig, url);
      answer = await this.#client(target, body, { timeoutMs: timeoutSeconds * 1000, signal });
    } catch (error) {
      throw new Error(`Post ${JSON.stringify(url)}: ${toError(error).message}`, { cause: error });
    }
    return readAnswer(answer);
  }

  #targetOf(clientConfig: JsonObject, url: string): WebhookTarget {
    const bundle = clientConfig['caBundle'];
    const authority =
      typeof bundle === 'string' && bundle !== ''
        ? { authority: Buffer.from(bundle, 'base64').toString('latin1') }
        : {};
    const service = clientConfig['service'];
    if (!isJsonObject(service)) return { url, ...authority };
    const resolved = resolveService(this.#views, {
      namespace: textOf(service, 'namespace'),
      name: textOf(service, 'name'),
      port: portOf(service),
    });
    if ('missing' in resolved) throw new Error(resolved.missing);
    return { url, connect: resolved, ...authority };
  }
}

const serviceViews: readonly (readonly [string, string])[] = [
  ['', 'services'],
  ['', 'endpoints'],
  ['discovery.k8s.io', 'endpointslices'],
];

function portOf(service: JsonObject): number {
  return typeof service['port'] === 'number' ? service['port'] : usualPort;
}

function baseUrl(clientConfig: JsonObject): string {
  const { url, service } = clientConfig;
  if (typeof url === 'string') return url;
  if (!isJsonObject(service)) throw new Error('webhook configuration must have either service or URL');
  const path = textOf(service, 'path');
  const host = `${textOf(service, 'name')}.${textOf(service, 'namespace')}.svc`;
  const separator = path.startsWith('/') ? '' : '/';
  return `https://${host}:${portOf(service)}${separator}${path}`;
}

function textOf(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === 'string' ? value : '';
}

const statusTexts: Readonly<Record<number, string>> = {
  401: 'the server has asked for the client to provide credentials',
  404: 'the server could not find the requested resource',
  405: 'the server does not allow this method on the requested resource',
  429: 'the server has received too many requests and has asked us to try again later',
  503: 'the server is currently unable to handle the request',
  504: 'the server was unable to return a response in the time allotted, but may still be processing the request',
};
const shownBody = 2048;

function readAnswer({ status, body }: WebhookAnswer): JsonObject {
  if (status < 200 || status > 299) throw new Error(statusText(status, body));
  let value: unknown;
  try {
    value = JSON.parse(body);
  } catch (error) {
    throw new Error(`couldn't get version/kind; json parse error: ${toError(error).message}`, {
      cause: error,
    });
  }
  if (isJsonObject(value)) return value;
  throw new Error("couldn't get version/kind; json parse error: the answer is not an object");
}

function statusText(status: number, body: string): string {
  const known = statusTexts[status];
  if (known) return known;
  if (status < 500)
    return `the server rejected our request for an unknown reason (status ${status}: ${shown(body)})`;
  return `an error on the server (${shown(body)}) has prevented the request from succeeding`;
}

function shown(body: string): string {
  return JSON.stringify(body.trim().slice(0, shownBody) || 'unknown');
}

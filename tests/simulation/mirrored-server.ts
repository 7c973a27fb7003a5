import { asJson, type KubeObject, type ObjectMeta } from '@sheaf/api';
import type { LiveViews } from '@sheaf/apiserver/storage/live-view';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual, type Random } from '@sheaf/base';
import {
  Client,
  type ClientRequest,
  type ClientResponse,
  type InProcessUser,
  type ResourceRef,
  type Transport,
} from '@sheaf/client';
import { MemoryStore } from '@sheaf/store';
import { SeededRandom, startTestServer, type TestServer, testAdmin } from '@sheaf/testkit';
import { LeanServer, type LeanTemplate, leanTemplateOf } from '@sheaf/testkit/lean-server/index';
import { type Extend, type Ground, loadedViews, type OpenServer } from './kept-servers.ts';

const written = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);
const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const cards = /([0-9a-f]{2}:){5}[0-9a-f]{2}/g;

/** The API server, whose every write is made on a lean server too; what the two answer differently is written down. */
export class Mirror {
  readonly differences: string[] = [];
  writes = 0;
  /** The lean version of what the API server has answered, by its version. */
  readonly #versions = new Map<string, string>();
  readonly #random = new MirrorRandom();
  #template: LeanTemplate | undefined;
  #lean: LeanServer | undefined;
  #views: LiveViews | undefined;
  #last: Promise<unknown> = Promise.resolve();
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  servers(extend: Extend): OpenServer {
    const { servedKinds, prepare } = this.#ground;
    const store = new MemoryStore();
    return async (parts) => {
      const life: { server?: TestServer } = {};
      const transportAs = (user: InProcessUser): Transport =>
        this.#mirrored(() => serverOf(life.server), user);
      const client = new Client({ transport: transportAs(testAdmin), userAgent: 'test' });
      const test = await startTestServer({ ...parts, store, extend: (api) => extend(api, client) });
      life.server = test;
      const open = (): void => {
        if (!this.#template) return;
        const { clock } = parts;
        this.#lean = new LeanServer({
          template: this.#template,
          clock,
          random: this.#random,
          extend,
          last: this.#lean,
        });
      };
      open();
      this.#views = test.server.stores;
      const { end } = test;
      return {
        client,
        transportAs,
        end,
        views: await loadedViews(test, servedKinds),
        prepare: async () => {
          await prepare(client);
          this.#template = await leanTemplateOf(test, servedKinds);
          open();
          this.#learnVersions();
        },
      };
    };
  }

  /** What is kept on either side must be the same in the end. */
  async compareAll(client: Client, kinds: readonly ResourceRef[]): Promise<void> {
    for (const resource of kinds) {
      const { items } = await client.list(resource);
      const lean = this.#lean?.kept.of(resource.group, resource.plural).list() ?? [];
      this.#compare(`all ${resource.plural}`, items.map(bare), lean.map(bare));
    }
  }

  #mirrored(server: () => TestServer, user: InProcessUser): Transport {
    return {
      send: (request) => {
        const direct = server().transportAs(user);
        const isRepeated = written.has(request.method) && !request.target.includes('/subresources.');
        if (!this.#lean || !isRepeated) return direct.send(request);
        // One after the other: what is under way at once, the two would let in in another order.
        const both = this.#last.then(() => this.#sendBoth(direct, request, user));
        this.#last = both.catch(() => undefined);
        return both;
      },
      close: () => undefined,
    };
  }

  async #sendBoth(direct: Transport, request: ClientRequest, user: InProcessUser): Promise<ClientResponse> {
    const response = await direct.send(request);
    const text = await response.text();
    const whole = { ...response, text: () => Promise.resolve(text) };
    await this.#repeat(request, whole, user);
    return whole;
  }

  async #repeat(request: ClientRequest, response: ClientResponse, user: InProcessUser): Promise<void> {
    if (!this.#lean) return;
    const answered = JSON.parse(await response.text()) as KubeObject;
    this.#random.next = answered.metadata?.uid ?? '';
    const value = this.#translated(JSON.parse(request.body || '{}') as JsonObject, answered);
    const { body: _, signal: __, ...rest } = request;
    const lean = await this.#lean.transport(user).send({ ...rest, value });
    this.writes++;
    this.#learnVersions();
    const what = `${request.method} ${request.target}`;
    const isCollection = Array.isArray(answered['items']);
    const shown = isCollection ? [] : [bare(answered), bare(lean.value as KubeObject)];
    this.#compare(what, [response.status, ...shown.slice(0, 1)], [lean.status, ...shown.slice(1)]);
  }

  /** Of everything that is kept on both sides. */
  #learnVersions(): void {
    for (const { group, plural } of this.#ground.servedKinds)
      for (const { metadata } of this.#views?.of(group, plural).list() ?? []) {
        const known = this.#lean?.kept.of(group, plural).get(metadata.namespace ?? '', metadata.name ?? '');
        this.#know(metadata, known?.metadata);
      }
  }

  #know(real: ObjectMeta, lean: ObjectMeta | undefined): void {
    if (lean?.uid !== real.uid) return;
    this.#versions.set(real.resourceVersion ?? '', lean?.resourceVersion ?? '');
  }

  /** The versions and the made-up name that the other server has given. */
  #translated(body: JsonObject, { metadata: real }: KubeObject): JsonValue {
    if (isJsonObject(body['preconditions']))
      return { ...body, preconditions: this.#atOwnVersion(body['preconditions']) };
    if (!isJsonObject(body['metadata'])) return body;
    const metadata = this.#atOwnVersion(body['metadata']);
    if (metadata['generateName'] && !metadata['name']) metadata['name'] = real.name;
    return { ...body, metadata };
  }

  #atOwnVersion(object: JsonObject): JsonObject {
    const { resourceVersion: version } = object;
    if (typeof version !== 'string') return { ...object };
    return { ...object, resourceVersion: this.#versions.get(version) ?? '1' };
  }

  #compare(what: string, real: JsonValue, lean: JsonValue): void {
    if (jsonEqual(real, lean)) return;
    this.differences.push(`${what}: ${JSON.stringify(real)} but ${JSON.stringify(lean)}`);
  }
}

/** Gives the identity that the other server has given. */
class MirrorRandom implements Random {
  next = '';
  readonly #random = new SeededRandom(1);

  uuid(): string {
    return this.next;
  }

  integer(below: number): number {
    return this.#random.integer(below);
  }

  bytes(length: number): Uint8Array {
    return this.#random.bytes(length);
  }
}

function serverOf(test: TestServer | undefined): TestServer {
  if (!test) throw new Error('the server is not open yet');
  return test;
}

/** Without what only one of the two counts, books or draws. */
function bare(object: KubeObject | JsonObject): JsonValue {
  const { metadata, ...rest } = object as KubeObject;
  const { resourceVersion: _, managedFields: __, ...kept } = metadata ?? {};
  const text = JSON.stringify({ ...asJson(rest as KubeObject), metadata: kept });
  return JSON.parse(text.replaceAll(uuids, 'uuid').replaceAll(cards, 'card')) as JsonValue;
}

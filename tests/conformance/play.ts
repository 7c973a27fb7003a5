import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { type Answer, readAnswer, readEvents } from './answer.ts';
import { isOfRootBundle, withoutWorkOfControllers } from './controllers.ts';
import { Normaliser } from './normalise.ts';
import { rawRequest } from './request.ts';
import { openStream, type RawStream, send } from './send.ts';
import type { Target } from './target.ts';
import { type Exchange, type Theme, valueAt } from './theme.ts';

/** What one server has answered to one theme: normalised answers by the titles of their pairs, in order. */
export type Answers = ReadonlyMap<string, Answer>;

const eventPatienceMilliseconds = 5000;
/** How long is waited for events that should not come. */
const quietMilliseconds = 120;
const untilMilliseconds = 10_000;

/** Sends a theme's requests in order and gives the normalised answers. @throws Error when the preparation fails */
export async function playTheme(target: Target, theme: Theme): Promise<Answers> {
  const player = new Player(target);
  try {
    for (const exchange of theme.setup) await player.prepare(exchange);
    const answers = new Map<string, Answer>();
    for (const exchange of theme.exchanges) {
      answers.set(exchange.title, await player.play(exchange));
    }
    return answers;
  } catch (error) {
    throw new Error(`theme ${theme.name}: ${(error as Error).message}`, { cause: error });
  } finally {
    player.close();
  }
}

class Player {
  readonly #target: Target;
  readonly #values = new Map<string, string>();
  readonly #normaliser: Normaliser;
  readonly #streams = new Map<string, RawStream>();

  constructor(target: Target) {
    this.#target = target;
    const id = `q${randomInt(36 ** 4, 36 ** 5).toString(36)}q`;
    this.#values.set('id', id);
    this.#normaliser = new Normaliser(id);
  }

  async prepare(exchange: Exchange): Promise<void> {
    const answer = await this.#ask(exchange);
    // What a controller has made already is there.
    if (answer.status >= 300 && answer.status !== 409)
      throw new Error(`preparing "${exchange.title}": ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async play(exchange: Exchange): Promise<Answer> {
    const answer = await this.#ask(exchange);
    const { body } = answer;
    const own = body === undefined ? answer : { ...answer, body: withoutWorkOfControllers(body) };
    return reduced(this.#normaliser.answer(own), exchange);
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.close();
  }

  async #ask(exchange: Exchange): Promise<Answer> {
    try {
      if (exchange.collect !== undefined) return await this.#collect(exchange, exchange.collect);
      if (exchange.open !== undefined) return await this.#open(exchange, exchange.open);
      const answer = await this.#sendUntil(exchange);
      this.#save(exchange, answer);
      return answer;
    } catch (error) {
      throw new Error(`"${exchange.title}": ${(error as Error).message}`, { cause: error });
    }
  }

  async #sendUntil(exchange: Exchange): Promise<Answer> {
    const deadline = performance.now() + untilMilliseconds;
    for (;;) {
      const answer = readAnswer(await send(this.#target, rawRequest(exchange, this.#values)));
      const { until } = exchange;
      if (!until || performance.now() > deadline) return answer;
      const found = until.path === 'status code' ? answer.status : valueAt(answer.body, until.path);
      if (JSON.stringify(found) === JSON.stringify(until.value)) return answer;
      await delay(50);
    }
  }

  #save(exchange: Exchange, answer: Answer): void {
    for (const [name, path] of Object.entries(exchange.save ?? {})) {
      const value = valueAt(answer.body, path);
      if (value === undefined)
        throw new Error(`"${exchange.title}" has no ${path}: ${JSON.stringify(answer.body)}`);
      this.#values.set(name, typeof value === 'string' ? value : JSON.stringify(value));
    }
  }

  async #open(exchange: Exchange, name: string): Promise<Answer> {
    const stream = await openStream(this.#target, rawRequest(exchange, this.#values));
    this.#streams.set(name, stream);
    if (stream.status !== 200) await stream.ended;
    const body = stream.status === 200 ? Buffer.alloc(0) : stream.body();
    return readAnswer({ status: stream.status, headers: stream.headers, body });
  }

  async #collect(exchange: Exchange, name: string): Promise<Answer> {
    const stream = this.#streams.get(name);
    if (!stream) throw new Error(`no watch is called ${name}`);
    const read = (): readonly unknown[] =>
      readEvents(stream.body(), String(stream.headers['content-type'] ?? '')).filter(
        (event) => !isOfRootBundle(event),
      );
    const deadline = performance.now() + eventPatienceMilliseconds;
    const wanted = exchange.events ?? 0;
    while (read().length < wanted && !stream.hasEnded() && performance.now() < deadline) await delay(10);
    if (!stream.hasEnded()) await delay(quietMilliseconds);
    const body = { events: read().filter((event) => !isPassing(event)), ended: stream.hasEnded() };
    stream.close();
    return { status: stream.status, headers: {}, body };
  }
}

/** Bookmarks that only say how far the store is come when they come. */
function isPassing(event: unknown): boolean {
  const type = valueAt(event, 'type');
  const annotations = valueAt(event, 'object.metadata.annotations');
  const inTable = valueAt(event, 'object.rows.0.object.metadata.annotations');
  return type === 'BOOKMARK' && annotations === undefined && inTable === undefined;
}

/** Only what the pair is about. */
function reduced(answer: Answer, { pick, leave, statusOnly }: Exchange): Answer {
  if (statusOnly === true) return { status: answer.status, headers: {} };
  if (pick) {
    const body = Object.fromEntries(pick.map((path) => [path, valueAt(answer.body, path) ?? null]));
    return { ...answer, body };
  }
  for (const path of leave ?? []) drop(answer.body, path.split('.'));
  return answer;
}

function drop(value: unknown, [key, ...rest]: readonly string[]): void {
  if (key === undefined || typeof value !== 'object' || value === null) return;
  if (key === '*') for (const item of Object.values(value)) drop(item, rest);
  else if (rest.length === 0) delete (value as Record<string, unknown>)[key];
  else drop((value as Record<string, unknown>)[key], rest);
}

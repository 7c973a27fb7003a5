import { stat } from 'node:fs/promises';
import type { JsonObject } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { listAt, textAt } from '../connect.ts';
import { UsageError } from '../up-options.ts';
import { shownUpload } from '../vm/image.ts';
import type { MachineCommand } from '../vm/machine-command.ts';
import { ageOf, tableText } from '../vm/table.ts';
import { removedChartWords } from './removed-charts.ts';

export const load: MachineCommand = {
  summary:
    'Loads a bundle into the server: add-ons then find its charts and images there, and ask no network',
  words: 'FILE [options]',
  help: `  Everything is verified before it is used. What was cut off is done again with the same command: pieces that
  came whole are not stored twice. Add-ons that wait for what it holds go on by themselves.
`,
  async run({ client, given: [path = ''] }) {
    const { size } = await sizeOf(path);
    const target = await bundlesPath(client);
    const upload = shownUpload(path, { size, displayName: path });
    const last = await lastNews(client, { target, upload }).catch((error: unknown) => {
      throw isCutOff(error) ? new Error(cutOff, { cause: error }) : error;
    });
    if (last['step'] === 'done') return 0;
    throw new Error(textAt(last, 'message') || cutOff);
  },
};

const cutOff = 'the server has ended before the bundle was loaded; load it again: it goes on';
const connectionErrors: ReadonlySet<unknown> = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

function isCutOff(error: unknown): boolean {
  return error instanceof Error && 'code' in error && connectionErrors.has(error.code);
}

/** Loads it, and tells each piece of news as it comes. */
async function lastNews(
  client: Client,
  { target, upload }: { readonly target: string; readonly upload: ReturnType<typeof shownUpload> },
): Promise<JsonObject> {
  const headers = { 'content-type': 'application/x-tar' };
  const answer = await client.send({ method: 'POST', target, headers, upload });
  if (answer.status >= 400) throw new Error(messageOf(await answer.text()));
  let last: JsonObject = {};
  for await (const line of answer.lines()) {
    last = JSON.parse(line) as JsonObject;
    const words = newsWords(last);
    if (words !== undefined) process.stdout.write(`${words}\n`);
  }
  return last;
}

export const list: MachineCommand = {
  summary: 'Lists the bundles that are loaded',
  words: '[options]',
  async run({ client }) {
    const items = listAt(await client.raw(await bundlesPath(client)), 'items');
    const heads = ['ID', 'CHARTS', 'IMAGES', 'SIZE', 'AGE', 'FOR'];
    const rows = items.map((item) => rowOf(item, Date.now()));
    const none = 'there are no bundles; load one: sheaf bundle load FILE\n';
    process.stdout.write(rows.length === 0 ? none : tableText(heads, rows));
    return 0;
  },
};

export const remove: MachineCommand = {
  summary: 'Removes a bundle: its charts, and its images that nothing uses',
  words: 'ID [options]',
  async run({ client, given: [id = ''] }) {
    const path = await bundlesPath(client);
    const before = await client.raw(path);
    const answer = await client.send({ method: 'DELETE', target: `${path}/${id}` });
    const text = await answer.text();
    if (answer.status >= 400) throw new Error(messageOf(text));
    process.stdout.write(`removed ${id}\n`);
    const { kept } = JSON.parse(text) as { readonly kept: readonly string[] };
    for (const image of kept)
      process.stdout.write(`the image ${image} stays: a pod or another bundle needs it\n`);
    const after = await client.raw(path);
    const { items: installed } = await client.list(resources.helmCharts);
    for (const words of removedChartWords({ before, after, installed })) process.stdout.write(`${words}\n`);
    return 0;
  },
};

async function sizeOf(path: string): Promise<{ readonly size: number }> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new UsageError(`${path} cannot be read`, { cause });
  });
  if (!found.isFile()) throw new UsageError(`${path} is no file`);
  return found;
}

/** Of the node that has a heartbeat: there is one. */
async function bundlesPath(client: Client): Promise<string> {
  const { items } = await client.list(resources.nodes);
  const own = items.find(({ status }) => status?.nodeInfo?.containerRuntimeVersion !== undefined) ?? items[0];
  if (!own) throw new Error('the server has no node yet; try again');
  return `/v1/sheaf/nodes/${own.metadata.name}/bundles`;
}

function messageOf(text: string): string {
  try {
    return textAt(JSON.parse(text), 'message') || text;
  } catch {
    return text;
  }
}

function newsWords(news: JsonObject): string | undefined {
  const name = textAt(news, 'name');
  switch (textAt(news, 'step')) {
    case 'received':
      return `bundle ${textAt(news, 'id')}: ${Number(news['charts'])} charts, ${Number(news['images'])} images`;
    case 'program-stored':
      return `stored the program ${name}`;
    case 'chart-stored':
      return `stored the chart ${name}`;
    case 'image-loaded':
      return `loaded the image ${name}`;
    case 'image-present':
      return `the image ${name} is there already`;
    case 'done':
      return `loaded ${textAt(news, 'id')}`;
    default:
      return undefined;
  }
}

const mebibyte = 2 ** 20;

function rowOf(item: JsonObject, nowMs: number): readonly string[] {
  const count = (field: string): string => String(listLength(item[field]));
  const purposes = Array.isArray(item['purposes']) ? item['purposes'].map(String) : [];
  return [
    textAt(item, 'id'),
    count('charts'),
    count('images'),
    `${Math.ceil(Number(item['bytes']) / mebibyte)}Mi`,
    ageOf(textAt(item, 'loadedAt'), nowMs),
    purposes.join(', ') || '-',
  ];
}

function listLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 0;
}

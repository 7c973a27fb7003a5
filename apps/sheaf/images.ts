import { stat } from 'node:fs/promises';
import type { JsonObject } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { listAt, textAt } from './connect.ts';
import { UsageError } from './up-options.ts';
import { shownUpload } from './vm/image.ts';
import type { MachineCommand } from './vm/machine-command.ts';
import { ageOf, tableText } from './vm/table.ts';
import { runWord } from './vm/vm.ts';

const list: MachineCommand = {
  summary: 'Lists the images that containers are made from, and who uses them',
  words: '[options]',
  async run({ client }) {
    const images = listAt(await client.raw(await imagesPath(client)), 'items');
    const heads = ['IMAGE', 'ID', 'SIZE', 'AGE', 'USED BY'];
    const rows = images.flatMap((image) => rowsOf(image, Date.now()));
    const none = 'there are no images; pods pull them, or load a file: sheaf images import FILE\n';
    process.stdout.write(rows.length === 0 ? none : tableText(heads, rows));
    return 0;
  },
};

const importFile: MachineCommand = {
  summary: 'Loads the images of an archive (docker save, or an OCI layout in a tar file)',
  words: 'FILE [options]',
  help: `  A file that is compressed with gzip or zstd will do. Pods use an image by its name, without a registry;\n  with imagePullPolicy Never or IfNotPresent nobody asks one.\n`,
  async run({ client, given: [path = ''] }) {
    const { size } = await sizeOf(path);
    const answer = await client.send({
      method: 'POST',
      target: `${await imagesPath(client)}?size=${size}`,
      headers: { 'content-type': 'application/x-tar' },
      upload: shownUpload(path, { size, displayName: path }),
    });
    const text = await answer.text();
    if (answer.status >= 400) throw new Error(textAt(JSON.parse(text), 'message') || text);
    for (const image of listAt(JSON.parse(text), 'items')) process.stdout.write(`${importedLine(image)}\n`);
    return 0;
  },
};

const remove: MachineCommand = {
  summary: 'Removes an image, or one of its names',
  words: 'IMAGE [options]',
  async run({ client, given: [reference = ''] }) {
    await client.send({ method: 'DELETE', target: `${await imagesPath(client)}/${reference}` }).then(refuse);
    process.stdout.write(`removed ${reference}\n`);
    return 0;
  },
};

async function refuse(answer: { readonly status: number; text(): Promise<string> }): Promise<void> {
  if (answer.status < 400) return;
  const text = await answer.text();
  throw new Error(textAt(JSON.parse(text), 'message') || text);
}

async function sizeOf(path: string): Promise<{ readonly size: number }> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new UsageError(`${path} cannot be read`, { cause });
  });
  if (!found.isFile()) throw new UsageError(`${path} is no file`);
  return found;
}

/** Of the node that has a heartbeat: there is one. */
async function imagesPath(client: Client): Promise<string> {
  const { items } = await client.list(resources.nodes);
  const own = items.find(({ status }) => status?.nodeInfo?.containerRuntimeVersion !== undefined) ?? items[0];
  if (!own) throw new Error('the server has no node yet; try again');
  return `/v1/sheaf/nodes/${own.metadata.name}/images`;
}

function importedLine(image: JsonObject): string {
  const tags = namesOf(image);
  const id = textAt(image, 'id');
  return tags.length > 0
    ? `imported ${tags.join(', ')}`
    : `imported ${id}, which has no name: pods cannot ask for it; write a name into the archive, such as with docker save NAME:TAG`;
}

const mebibyte = 2 ** 20;
const shownId = 19;

function rowsOf(image: JsonObject, nowMs: number): readonly (readonly string[])[] {
  const { bytes } = image;
  const users = textsAt(image, 'usedBy');
  const names = namesOf(image);
  return (names.length > 0 ? names : ['<none>']).map((name) => [
    name,
    textAt(image, 'id').slice(0, shownId),
    `${Math.ceil(Number(bytes) / mebibyte)}Mi`,
    ageOf(textAt(image, 'createdAt'), nowMs),
    users.length > 0 ? users.join(', ') : '-',
  ]);
}

function namesOf(image: JsonObject): readonly string[] {
  return textsAt(image, 'tags');
}

function textsAt(value: JsonObject, field: string): readonly string[] {
  const found = value[field];
  return Array.isArray(found) ? found.filter((item) => typeof item === 'string') : [];
}

const commands: Readonly<Record<string, MachineCommand>> = { ls: list, import: importFile, rm: remove };

/** `sheaf images WORD …` */
export function images(args: readonly string[]): Promise<number> {
  return runWord('images', commands, args);
}

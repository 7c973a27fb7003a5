import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { UsageError } from '../up-options.ts';
import { ensureImage, imageStep, objectName, waitForImage } from './images.ts';
import { type MachineCall, type MachineCommand, textOf } from './machine-command.ts';
import { ageOf, tableText } from './table.ts';
import { runWord } from './vm.ts';
import { secondsOf, waitOptions } from './wait-options.ts';

const list: MachineCommand = {
  summary: 'Lists images, and how far they are',
  words: '[options]',
  async run({ client, namespace }) {
    const { items } = await client.list(resources.virtualMachineImages, { namespace });
    const heads = ['NAME', 'DISPLAY NAME', 'STATE', 'SIZE', 'AGE'];
    const rows = items.map((image) => rowOf(image, Date.now()));
    const none = 'there are no images; add one: sheaf image add NAME --url https://…\n';
    process.stdout.write(rows.length === 0 ? none : tableText(heads, rows));
    return 0;
  },
};

const mebibyte = 2 ** 20;

function rowOf(image: VirtualMachineImage, nowMs: number): readonly string[] {
  const { metadata, spec, status } = image;
  const step = imageStep(spec.displayName, image);
  const state = step.outcome === 'done' ? 'imported' : step.line.slice(`image ${spec.displayName}: `.length);
  const bytes = Math.max(status?.virtualSize ?? 0, status?.size ?? 0);
  return [
    metadata.name ?? '',
    spec.displayName,
    state,
    bytes === 0 ? '-' : `${Math.ceil(bytes / mebibyte)}Mi`,
    ageOf(metadata.creationTimestamp, nowMs),
  ];
}

const add: MachineCommand = {
  summary: 'Fetches an image from an address and waits until it can be used',
  words: 'NAME --url URL [options]',
  options: { ...waitOptions.options, url: { type: 'string' } },
  help: `  --url URL            where it is\n${waitOptions.help}`,
  async run({ client, namespace, flags, given: [name = ''] }) {
    const url = textOf(flags, 'url');
    if (url === undefined) throw new UsageError('--url is missing; a file is sent with sheaf image upload');
    const image = await ensureImage(client, { namespace, url, name });
    if (flags['no-wait'] !== true) await waitForImage(client, image, secondsOf(flags));
    process.stdout.write(`${namespace}/${image.metadata.name ?? ''}\n`);
    return 0;
  },
};

const upload: MachineCommand = {
  summary: 'Sends a file as an image and waits until it can be used',
  words: 'FILE [options]',
  options: { ...waitOptions.options, name: { type: 'string' } },
  help: `  --name NAME          how it is shown; default: that of the file\n${waitOptions.help}`,
  run: uploadImage,
};

async function uploadImage(call: MachineCall): Promise<number> {
  const {
    client,
    namespace,
    flags,
    given: [path = ''],
  } = call;
  const { size } = await stat(path);
  const displayName = textOf(flags, 'name') ?? basename(path);
  const image = await client.create<VirtualMachineImage>(resources.virtualMachineImages, {
    metadata: { namespace, name: objectName(displayName, `${path} ${Date.now()}`) },
    spec: { displayName, sourceType: 'upload' },
  });
  const { name = '' } = image.metadata;
  const target = `/v1/harvester/harvesterhci.io.virtualmachineimages/${namespace}/${name}?action=upload&size=${size}&offset=0`;
  const answer = await client.send({
    method: 'POST',
    target,
    headers: { 'content-type': 'application/octet-stream' },
    upload: shownUpload(path, { size, displayName }),
  });
  if (answer.status >= 400) throw new Error(await answer.text());
  if (flags['no-wait'] !== true) await waitForImage(client, image, secondsOf(flags));
  process.stdout.write(`${namespace}/${name}\n`);
  return 0;
}

/** The bytes of a file; each tenth of it is told. */
export async function* shownUpload(
  path: string,
  { size, displayName }: { readonly size: number; readonly displayName: string },
): AsyncGenerator<Uint8Array> {
  let sent = 0;
  let told = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: mebibyte })) {
    yield chunk as Uint8Array;
    sent += (chunk as Uint8Array).length;
    const tenth = Math.floor((sent * 10) / size);
    if (tenth > told) process.stderr.write(`upload ${displayName}: ${tenth * 10} %\n`);
    told = tenth;
  }
}

const commands: Readonly<Record<string, MachineCommand>> = { ls: list, add, upload };

/** `sheaf image WORD …` */
export function image(args: readonly string[]): Promise<number> {
  return runWord('image', commands, args);
}

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { formOf, inPieces, mebibyte, messageOf, saidBy } from './image-world.fixture.ts';
import { type RealImages, whySkipped, withRealImages } from './real-images.fixture.ts';

const options = { skip: whySkipped };
const place = '/v1/harvester/harvesterhci.io.virtualmachineimages/default';
const sha512 = (bytes: Uint8Array): string => createHash('sha512').update(bytes).digest('hex');
const isImported = (image: VirtualMachineImage): boolean => saidBy(image, 'Imported') === 'True/Imported';
const hasEnded = (image: VirtualMachineImage): boolean => saidBy(image, 'Imported').startsWith('False/');

/** A qcow2 of 64 MiB that holds `bytes` of noise. */
function qcow2In({ directory }: RealImages, bytes: number): Buffer {
  const [raw, packed] = [join(directory, 'noise.raw'), join(directory, 'noise.qcow2')];
  writeFileSync(raw, randomBytes(bytes));
  execFileSync('qemu-img', ['convert', '-q', '-f', 'raw', '-O', 'qcow2', raw, packed]);
  execFileSync('qemu-img', ['resize', '-q', packed, '64M']);
  return readFileSync(packed);
}

function answering(content: Buffer): RequestListener {
  return (_incoming, outgoing) =>
    void outgoing.writeHead(200, { 'content-length': content.length, etag: '"a"' }).end(content);
}

test('images: a qcow2 comes from an address, is verified, has a class and columns, and goes', options, () =>
  withRealImages(async (world) => {
    const { client, create, until, serve } = world;
    const content = qcow2In(world, mebibyte);
    await create('one', { url: serve(answering(content)), checksum: sha512(content) });
    const { metadata, status } = await until('one', isImported);
    assert.deepEqual(
      [status?.size, status?.virtualSize, status?.progress],
      [content.length, 64 * mebibyte, 100],
    );
    const made = await client.get(resources.storageClasses, { name: status?.storageClassName ?? '' });
    assert.equal(made.parameters?.['backingImage'], `vmi-${metadata.uid}`);
    const table = await client.raw('/apis/harvesterhci.io/v1beta1/namespaces/default/virtualmachineimages', {
      headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
    });
    const { columnDefinitions, rows } = table as unknown as {
      columnDefinitions: { name: string }[];
      rows: { cells: unknown[] }[];
    };
    const cells = Object.fromEntries(
      columnDefinitions.map(({ name }, index) => [name, rows[0]?.cells[index]]),
    );
    assert.deepEqual(
      [cells['Name'], cells['DISPLAY-NAME'], cells['SIZE'], cells['VIRTUALSIZE']],
      ['one', 'one', content.length, 64 * mebibyte],
    );
    await client.delete(resources.virtualMachineImages, { namespace: 'default', name: 'one' });
    for (let turn = 0; turn < 500; turn++) {
      const { items } = await client.list(resources.virtualMachineImages);
      if (items.length === 0) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(await client.find(resources.storageClasses, { name: `lh-${metadata.uid}` }), undefined);
    assert.equal(
      await client.find(resources.virtualMachineImages, { namespace: 'default', name: 'one' }),
      undefined,
    );
  }),
);

test('images: another checksum is a fault, and the right one mends it', options, () =>
  withRealImages(async (world) => {
    const content = qcow2In(world, 1000);
    let asked = 0;
    const url = world.serve((incoming, outgoing) => {
      asked++;
      answering(content)(incoming, outgoing);
    });
    await world.create('one', { url, checksum: 'ab'.repeat(64) });
    const image = await world.until('one', hasEnded);
    assert.deepEqual([saidBy(image, 'Imported'), asked], ['False/ImportFailed', 1]);
    assert.match(messageOf(image, 'Imported'), /^its SHA-512 is .*needs someone: correct spec\.checksum/);
    const spec = { ...image.spec, checksum: sha512(content) };
    await world.client.update(resources.virtualMachineImages, { ...image, spec });
    assert.equal((await world.until('one', isImported)).status?.failed, 0);
  }),
);

test('images: a server that stalls is tried again, up to the limit', options, () =>
  withRealImages(async ({ create, until, serve }) => {
    const url = serve((_incoming, outgoing) => {
      outgoing.writeHead(200, { 'content-length': mebibyte }).flushHeaders();
    });
    await create('one', { url, retry: 1 });
    const once = await until('one', (image) => saidBy(image, 'Imported') === 'Unknown/RetryPending');
    assert.match(messageOf(once, 'Imported'), /^attempt 1 of 2: .*nothing came for/);
    const image = await until('one', hasEnded);
    assert.deepEqual(
      [image.status?.failed, saidBy(image, 'RetryLimitExceeded')],
      [2, 'True/RetryLimitExceeded'],
    );
  }),
);

test('images: an upload of 64 MiB goes on where its connection broke, and comes out again', options, () =>
  withRealImages(async (world) => {
    const { create, until, send, restart } = world;
    const content = Buffer.concat([Buffer.alloc(mebibyte), randomBytes(63 * mebibyte)]);
    const size = `action=upload&size=${content.length}`;
    await create('one', { sourceType: 'upload', checksum: sha512(content) });
    const form = formOf(content, 500);
    const headers = { 'content-type': form.contentType };
    assert.equal(await send('POST', `${place}/one?${size}`, { headers, body: form.bytes }), undefined);
    const broken = await until('one', (image) => saidBy(image, 'Imported') === 'Unknown/UploadInterrupted');
    assert.match(messageOf(broken, 'Imported'), /bytes have come, and no more are coming/);
    await restart();
    const told = await send('HEAD', `${place}/one/upload`);
    const offset = Number(told?.headers['upload-offset']);
    assert.ok(offset > 0 && offset < content.length, String(offset));
    const rest = content.subarray(offset);
    const finished = await send('POST', `${place}/one?${size}&offset=${offset}`, { body: inPieces(rest) });
    assert.deepEqual(
      [finished?.status, finished?.body.toString()],
      [200, `{"receivedBytes":${content.length},"size":${content.length}}`],
    );
    const image = await until('one', isImported);
    assert.equal(image.status?.virtualSize, content.length);
    const packed = (await send('GET', `${place}/one/download`)) ?? assert.fail('no answer');
    assert.equal(packed.headers['content-disposition'], 'attachment; filename=one.gz');
    assert.equal(sha512(gunzipSync(packed.body)), sha512(content));
  }),
);

test('images: one that names other files of the host is refused', options, () =>
  withRealImages(async ({ directory, create, until, serve }) => {
    const path = join(directory, 'hostile.qcow2');
    execFileSync('qemu-img', [
      'create',
      '-q',
      '-u',
      '-f',
      'qcow2',
      '-b',
      '/etc/passwd',
      '-F',
      'raw',
      path,
      '1M',
    ]);
    await create('one', { url: serve(answering(readFileSync(path))) });
    const image = await until('one', hasEnded);
    assert.match(messageOf(image, 'Imported'), /backing file/);
    assert.equal(saidBy(image, 'Imported'), 'False/ImportFailed');
  }),
);

test('images: a download goes on after controller and driver were ended in the middle', options, () =>
  withRealImages(async (world) => {
    const content = qcow2In(world, 8 * mebibyte);
    const ranges: (string | undefined)[] = [];
    const url = world.serve(({ headers }, outgoing) => {
      ranges.push(headers.range);
      const start = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
      if (start === 0) {
        outgoing.writeHead(200, { 'content-length': content.length, etag: '"a"' });
        outgoing.write(content.subarray(0, 6 * mebibyte));
        return;
      }
      const range = `bytes ${start}-${content.length - 1}/${content.length}`;
      outgoing.writeHead(206, { 'content-range': range, etag: '"a"' }).end(content.subarray(start));
    });
    await world.create('one', { url, checksum: sha512(content) });
    await world.until('one', ({ status }) => (status?.progress ?? 0) > 50);
    await world.restart();
    const image = await world.until('one', isImported);
    assert.equal(image.status?.virtualSize, 64 * mebibyte);
    assert.match(ranges.at(-1) ?? '', /^bytes=[1-9]\d*-$/);
  }),
);

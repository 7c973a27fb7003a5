import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gunzipSync } from 'node:zlib';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { type Client, type ClientResponse, resources } from '@sheaf/client';
import { type TestServer, testAdmin } from '@sheaf/testkit';
import {
  formOf,
  type ImageWorld,
  inPieces,
  messageOf,
  rawDisk,
  refusal,
  saidBy,
  withImages,
} from './image-world.fixture.ts';

const disk = rawDisk(1, 2, 3, 4);
const size = `size=${disk.length}`;
const target = '/v1/harvester/harvesterhci.io.virtualmachineimages/default/one';
const isImported = (image: VirtualMachineImage): boolean => saidBy(image, 'Imported') === 'True/Imported';

function bare(content: Uint8Array, breaksAfter?: number) {
  return { contentType: 'application/octet-stream', bytes: inPieces(content, breaksAfter) };
}

async function said(answer: Promise<ClientResponse>): Promise<string> {
  const { status, text } = await answer;
  const body = JSON.parse(await text()) as { readonly message?: string };
  return `${status}: ${body.message ?? JSON.stringify(body)}`;
}

/** An upload that is waited for. */
async function begin(
  { create, until }: Pick<ImageWorld, 'create' | 'until'>,
  displayName = 'one',
): Promise<void> {
  await create('one', { sourceType: 'upload', displayName });
  await until('one', (image) => saidBy(image, 'Initialized') === 'True/Initialized');
}

async function progressOf(client: Client): Promise<readonly (string | undefined)[]> {
  const { headers } = await client.send({ method: 'HEAD', target: `${target}/upload` });
  return [headers['upload-offset'], headers['upload-length']];
}

describe('uploads', () => {
  it('are whole files in a form', () =>
    withImages(async ({ create, upload, until }) => {
      await begin({ create, until });
      const answer = await said(upload('one', size, formOf(disk)));
      assert.equal(answer, `200: {"receivedBytes":${disk.length},"size":${disk.length}}`);
      const image = await until('one', isImported);
      assert.deepEqual([image.status?.size, image.status?.virtualSize], [disk.length, disk.length]);
      assert.match(await said(upload('one', size, formOf(disk))), /^409: image default\/one has its content/);
    }));

  it('wait for the controller, for a minute', () =>
    withImages(async ({ create, upload, clock, eventually, stop }) => {
      const answers: string[] = [];
      const send = (name: string): void => {
        void said(upload(name, size, formOf(disk))).then((text) => answers.push(text));
      };
      await create('one', { sourceType: 'upload' });
      send('one');
      await eventually(async () => answers.length === 1);
      await stop();
      await create('two', { sourceType: 'upload' });
      const startMs = clock.now();
      send('two');
      await eventually(async () => answers.length === 2);
      assert.match(
        answers.join(),
        /^200: .*,503: the storage was not ready for image default\/two within 60 s/,
      );
      assert.equal(clock.now() - startMs, 60_000);
    }));

  it('show how far they are while they come', () =>
    withImages(async ({ client, create, upload, until, eventually }) => {
      await begin({ create, until });
      await until('one', (image) => messageOf(image, 'Imported') === 'its content has not been uploaded yet');
      let goOn = (): void => undefined;
      const paused = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      async function* slowly(): AsyncGenerator<Uint8Array> {
        yield disk.subarray(0, 2 * 65_536);
        await paused;
        yield disk.subarray(2 * 65_536);
      }
      const sent = upload('one', `${size}&offset=0`, {
        contentType: 'application/octet-stream',
        bytes: slowly(),
      });
      const half = await until('one', ({ status }) => status?.progress === 50);
      assert.deepEqual([half.status?.size, saidBy(half, 'Imported')], [disk.length, 'Unknown/Importing']);
      assert.deepEqual(await progressOf(client), ['131072', '262144']);
      assert.match(
        await said(upload('one', size, formOf(disk))),
        /^409: image default\/one is being uploaded already/,
      );
      goOn();
      assert.equal((await sent).status, 200);
      await eventually(async () => isImported(await until('one', isImported)));
    }));

  it('go on where they broke off, also after a restart', () =>
    withImages(async ({ client, server, create, upload, until, restart }) => {
      await begin({ create, until });
      assert.match(await said(upload('one', size, formOf(disk, 2))), /^500: /);
      const broken = await until('one', (image) => saidBy(image, 'Imported') === 'Unknown/UploadInterrupted');
      const [received] = await progressOf(client);
      assert.match(
        messageOf(broken, 'Imported'),
        new RegExp(
          `^${received} of 262144 bytes have come, and no more are coming: .*go on with \\?action=upload&offset=${received}`,
        ),
      );
      await restart();
      const offset = Number(received);
      assert.ok(offset > 0 && offset < disk.length);
      assert.match(
        await said(upload('one', `${size}&offset=${offset + 1}`, bare(disk.subarray(offset + 1)))),
        /^409: of image default\/one \d+ bytes have come; go on from there/,
      );
      const part = disk.subarray(offset, offset + 1000);
      const rest = disk.subarray(offset + 1000);
      assert.match(await said(upload('one', `${size}&offset=${offset}`, bare(part))), /^200: /);
      assert.match(await said(upload('one', `${size}&offset=${offset + 1000}`, formOf(rest))), /^200: /);
      await until('one', isImported);
      const { body } = await download(server);
      assert.deepEqual(body, disk);
    }));

  it('come to their end when the server ends after the last byte', () =>
    withImages(async ({ create, upload, until, restart, medium, clock }) => {
      await begin({ create, until });
      await said(upload('one', `${size}&offset=0`, bare(disk.subarray(0, 100))));
      const known = await until('one', ({ status }) => status?.size === disk.length);
      const stored = medium.images.get(known.metadata.uid ?? '') ?? assert.fail('it is not there');
      stored.received = disk;
      clock.advance(60_000);
      await restart();
      assert.equal((await until('one', isImported)).status?.size, disk.length);
    }));

  it('begin anew with a whole file', () =>
    withImages(async ({ create, upload, until }) => {
      await begin({ create, until });
      await said(upload('one', size, formOf(disk, 2)));
      const other = rawDisk(9, 9);
      assert.match(await said(upload('one', `size=${other.length}`, formOf(other))), /^200: /);
      assert.equal((await until('one', isImported)).status?.size, other.length);
    }));

  it('that are no good can be sent again', () =>
    withImages(async ({ create, upload, until }) => {
      await begin({ create, until });
      const text = Buffer.from('<html>not found</html>');
      await said(upload('one', `size=${text.length}`, formOf(text)));
      const failed = await until('one', (image) => saidBy(image, 'Imported') === 'False/UploadFailed');
      assert.deepEqual([failed.status?.failed, saidBy(failed, 'RetryLimitExceeded')], [1, 'nothing']);
      assert.match(messageOf(failed, 'Imported'), /needs someone: upload the right file/);
      assert.match(
        await said(upload('one', `size=${text.length}&offset=10`, bare(text.subarray(10)))),
        /^409: image default\/one was no good; upload it again from its beginning/,
      );
      assert.match(await said(upload('one', size, formOf(disk))), /^200: /);
      await until('one', isImported);
    }));

  it('are refused with what to do', () =>
    withImages(async ({ client, server, create, upload, sources, until }) => {
      sources.offer('http://source.test/a', [{ content: disk }]);
      await create('two', { url: 'http://source.test/a' });
      await begin({ create, until });
      assert.match(await said(upload('none', size, formOf(disk))), /^404: .*"none" not found/);
      assert.match(
        await said(upload('two', size, formOf(disk))),
        /^422: image default\/two is no upload but download/,
      );
      assert.match(
        await said(upload('one', '', formOf(disk))),
        /^400: the size of the whole file is missing; add size=/,
      );
      assert.match(await said(upload('one', 'size=-1', formOf(disk))), /^400: size=-1 is no number of bytes/);
      assert.match(
        await said(upload('one', 'size=99999999', formOf(disk))),
        /^413: 99999999 bytes are more than the 4194304/,
      );
      assert.match(await said(upload('one', size, bare(disk))), /^400: send the file as the field "chunk"/);
      const noChunk = {
        ...formOf(disk),
        bytes: inPieces(
          Buffer.from('--XyZ\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--XyZ--\r\n'),
        ),
      };
      assert.match(await said(upload('one', size, noChunk)), /^400: the form has no field "chunk"/);
      assert.match(
        await said(upload('one', 'size=10', formOf(disk))),
        /^400: more comes than the 10 bytes of size=10/,
      );
      assert.match(
        await said(upload('one', `size=${disk.length + 1}`, formOf(disk))),
        /^400: the upload ended after 262144 of 262145 bytes; go on with offset=262144/,
      );
      const stranger = server.clientAs({ name: 'eve', groups: ['system:authenticated'] });
      const asked = stranger.send({ method: 'POST', target: `${target}?action=upload&${size}`, headers: {} });
      assert.match(await said(asked), /^403: .*cannot update resource "virtualmachineimages"/);
      assert.match(await refusal(client.raw(`${target}/download`)), /^409: image default\/one is not ready/);
    }));
});

interface Downloaded {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

/** Clients of the testkit read texts only. */
async function download({ server }: TestServer): Promise<Downloaded> {
  const { headers, body } = await server.handle({
    method: 'GET',
    path: `${target}/download`,
    query: '',
    headers: {},
    readBody: () => Promise.resolve(new Uint8Array()),
    signal: new AbortController().signal,
    trustedUser: testAdmin,
    remoteAddress: '127.0.0.1',
  });
  assert.ok(body.kind === 'pull');
  return { headers, body: gunzipSync(Buffer.concat(await Array.fromAsync(body.chunks))) };
}

describe('downloads', () => {
  it('are packed attachments', () =>
    withImages(async ({ server, create, upload, until }) => {
      await begin({ create, until }, 'debian-13.img');
      await said(upload('one', size, formOf(disk)));
      await until('one', isImported);
      const { headers, body } = await download(server);
      assert.deepEqual(
        [headers['content-type'], headers['content-disposition'], body.equals(disk)],
        ['application/gzip', 'attachment; filename=debian-13.img.gz', true],
      );
    }));

  it('need the right to read the image', () =>
    withImages(async ({ server, create, until }) => {
      await begin({ create, until });
      const stranger = server.clientAs({ name: 'eve', groups: ['system:authenticated'] });
      for (const link of ['download', 'upload'])
        assert.match(
          await said(stranger.send({ method: 'GET', target: `${target}/${link}`, headers: {} })),
          /^403: .*cannot get resource "virtualmachineimages"/,
        );
      await server.client.delete(resources.virtualMachineImages, { namespace: 'default', name: 'one' });
    }));
});

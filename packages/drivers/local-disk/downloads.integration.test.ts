import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { imageOrder, mebibyte, rawDisk, settled, signal } from '@sheaf/ports/disk-bench.fixture';
import type { AddressScope } from './address-scope.ts';
import { type LocalBench, whySkipped, withLocalDisk } from './local-disk.fixture.ts';

const options = { skip: whySkipped };
const disk = rawDisk(1, 2, 3);

async function download(bench: LocalBench, url: string, more: object = {}) {
  await bench.images.request({ ...imageOrder('i', { kind: 'download', urls: [url] }), ...more }, signal);
  return settled(bench, 'i');
}

test(
  'downloads: only what is missing is asked for after a break, and only of the same state of the file',
  options,
  () =>
    withLocalDisk(async (bench) => {
      // What is on its way when the connection breaks may be lost; it is less than this.
      const large = Buffer.alloc(4 * mebibyte, 1);
      const url = await bench.offer([
        { content: large, etag: '"a"', breaksAfter: 3 * mebibyte },
        { content: large, etag: '"a"' },
      ]);
      assert.deepEqual(await download(bench, url, { maxBytes: large.length }), { state: 'done' });
      const [first, second, ...others] = bench.server.requests.map(({ headers }) => headers);
      assert.deepEqual([first?.range, first?.['if-range'], others], [undefined, undefined, []]);
      assert.match(second?.range ?? '', /^bytes=[1-9]\d*-$/);
      assert.equal(second?.['if-range'], '"a"');
      assert.equal(second?.['accept-encoding'], 'identity');
    }),
);

test('downloads: a restart goes on from what was written down', options, () =>
  withLocalDisk(async (bench) => {
    const url = await bench.offer([
      { content: disk, etag: '"a"', stallsAfter: 70_000 },
      { content: disk, etag: '"a"' },
    ]);
    await bench.images.request(imageOrder('i', { kind: 'download', urls: [url] }), signal);
    await bench.until(async () => ((await bench.images.find('i', signal))?.receivedBytes ?? 0) === 70_000);
    await bench.restart();
    assert.deepEqual(await settled(bench, 'i'), { state: 'done' });
    assert.match(bench.server.requests[1]?.headers.range ?? '', /^bytes=[1-9]\d*-$/);
  }),
);

/** Names with made-up places in the network, all of which are this machine. */
function addressBook(places: Readonly<Record<string, readonly [address: string, scope: AddressScope]>>) {
  const asked: string[] = [];
  const scopes = new Map(Object.values(places));
  return {
    asked,
    async resolve(hostname: string): Promise<string> {
      asked.push(hostname);
      return places[hostname]?.[0] ?? assert.fail(hostname);
    },
    scopeOf: (address: string): AddressScope => scopes.get(address) ?? 'loopback',
  };
}

interface Redirects {
  readonly port: number;
  readonly seen: string[];
  close(): void;
}

/** Sends `/to/HOST` on to HOST, and gives the disk for everything else. */
async function startRedirects(): Promise<Redirects> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    const to = /^\/to\/(.*)$/.exec(request.url ?? '')?.[1];
    seen.push(
      `${request.headers.host?.split(':')[0]}${request.headers.authorization ? ' with password' : ''}`,
    );
    if (request.url === '/loop') response.writeHead(307, { location: '/loop' }).end();
    else if (to) response.writeHead(302, { location: to }).end();
    else response.end(disk);
  });
  await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
  return { port: (server.address() as AddressInfo).port, seen, close: () => server.close() };
}

test(
  'downloads: a server may not send further inside than it is; passwords stay with whom they are for',
  options,
  async () => {
    const addresses = addressBook({
      'mirror.test': ['127.0.0.2', 'public'],
      'other.test': ['127.0.0.3', 'public'],
      'lan.test': ['127.0.0.4', 'private'],
      'cloud.test': ['127.0.0.5', 'link-local'],
    });
    await withLocalDisk(
      async (bench) => {
        const server = await startRedirects();
        const at = (host: string, path = '/disk'): string => `http://${host}:${server.port}${path}`;
        for (const inside of ['lan.test', 'cloud.test', '127.0.0.1', '[::ffff:127.0.0.1]', '2130706433']) {
          const failed = await download(bench, at('mirror.test', `/to/${at(inside)}`));
          assert.ok(failed.state === 'failed' && failed.nature === 'fault', inside);
          assert.match(failed.message, /sends on to .*, an address that is .*name it directly/);
          await bench.images.remove('i', signal);
        }
        assert.deepEqual(new Set(server.seen), new Set(['mirror.test']), 'none of them was asked');
        addresses.asked.length = 0;
        server.seen.length = 0;
        const named = at('mirror.test', `/to/${at('other.test')}`).replace('//', '//user:word@');
        assert.deepEqual(await download(bench, named), { state: 'done' });
        assert.deepEqual(server.seen, ['mirror.test with password', 'other.test']);
        assert.deepEqual(addresses.asked, ['mirror.test', 'other.test'], 'each name is resolved once');
        await bench.images.remove('i', signal);
        assert.deepEqual(
          await download(bench, at('lan.test')),
          { state: 'done' },
          'whoever names it may use it',
        );
        await bench.images.remove('i', signal);
        const endless = await download(bench, at('mirror.test', '/to//loop'));
        assert.ok(
          endless.state === 'failed' && /more than 10 times/.test(endless.message),
          JSON.stringify(endless),
        );
        server.close();
      },
      { addresses },
    );
  },
);

test('downloads: take no longer than they may as a whole', options, () =>
  withLocalDisk(
    async (bench) => {
      const url = await bench.offer([{ content: disk, stallsAfter: 10 }]);
      const failed = await download(bench, url);
      assert.ok(failed.state === 'failed' && failed.nature === 'transient');
      assert.match(failed.message, /not come within 0.05 s/);
    },
    { limits: { downloadMs: 50, stallMs: 60_000 } },
  ),
);

test('downloads: the path and the password are not in what people are told', options, () =>
  withLocalDisk(async (bench) => {
    const url = (await bench.offer([{ content: disk, status: 403 }])).replace('//', '//user:hidden@');
    const failed = await download(bench, url);
    assert.ok(failed.state === 'failed');
    assert.match(failed.message, /127.0.0.1.*answers 403/);
    assert.doesNotMatch(failed.message, /hidden/);
  }),
);

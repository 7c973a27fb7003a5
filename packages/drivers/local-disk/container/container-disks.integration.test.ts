import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { Secret } from '@sheaf/base';
import type { ContainerDiskObservation, RegistryAccess } from '@sheaf/ports';
import { type ContainerBench, testContainerDisks } from '@sheaf/ports/container-disks.contract';
import { contentOf, make, mebibyte, orderOf, rawDisk, signal } from '@sheaf/ports/disk-bench.fixture';
import { limits, whySkipped as noQemu, withLocalDisk } from '../local-disk.fixture.ts';
import { type TarFile, TestRegistry, tarOf } from './registry.fixture.ts';

const noSkopeo =
  spawnSync('skopeo', ['--version']).status === 0 ? false : 'skopeo is not installed (package skopeo)';
const whySkipped = noQemu || noSkopeo;
const own = { ...limits, containerBytes: 4 * mebibyte, containerRetryMs: 1 };

interface RealBench extends ContainerBench {
  readonly registry: TestRegistry;
}

async function withRegistry(use: (bench: RealBench) => Promise<void>): Promise<void> {
  const registry = await TestRegistry.start();
  try {
    await withLocalDisk(
      (disks) =>
        use({
          registry,
          disks,
          get containers() {
            return disks.disk.containerDisks;
          },
          push: async (name, files) => registry.pushFiles(name, files),
          lookups: () => registry.lookups,
        }),
      { limits: own },
    );
  } finally {
    await registry.stop();
  }
}

async function fetched(
  { containers, disks }: RealBench,
  reference: string,
  { path, ...access }: RegistryAccess & { readonly path?: string } = {},
): Promise<ContainerDiskObservation> {
  const order = { reference, policy: 'IfNotPresent', occasion: 'a' } as const;
  const wanted = {
    ...order,
    access: { isInsecure: true, ...access },
    ...(path === undefined ? {} : { path }),
  };
  let seen: ContainerDiskObservation | undefined;
  await disks.until(async () => {
    seen = await containers.fetch(wanted, signal);
    return seen.progress.state !== 'working';
  });
  return seen ?? assert.fail('nothing was told');
}

if (whySkipped) test('container disks', { skip: whySkipped });
else {
  testContainerDisks('skopeo', withRegistry);

  test('skopeo container disks: are seen as a container sees them, layer over layer', () =>
    withRegistry(async (bench) => {
      const layers = [
        zstdCompressSync(
          tarOf([
            { path: './disk/', type: '5' },
            { path: './disk/old.img', bytes: rawDisk(1) },
          ]),
        ),
        gzipSync(tarOf([{ path: 'disk/.wh.old.img' }, { path: 'disk/new.img', bytes: rawDisk(2) }])),
        tarOf([{ path: 'disk/new.img', bytes: rawDisk(3, 4) }]),
      ];
      const { image } = await fetched(bench, bench.registry.push('layered:1', layers, { isList: true }));
      await make(bench.disks, {
        ...orderOf('v', { kind: 'image', imageId: image?.id ?? '' }),
        bytes: mebibyte,
      });
      assert.deepEqual(await contentOf(bench.disks, 'v', 2), [3, 4]);
    }));

  test('skopeo container disks: are refused when they would reach further than their image', () =>
    withRegistry(async (bench) => {
      const disk = { path: 'disk/a', bytes: rawDisk(1) };
      const cases: readonly (readonly [string, readonly TarFile[], RegExp])[] = [
        ['link', [{ path: 'disk/a', type: '2', target: '/etc/shadow' }], /no plain file|is a link/],
        ['hard', [{ path: 'disk/a', type: '1', target: 'etc/shadow' }], /no plain file|is a link/],
        ['folder', [{ path: 'disk', type: '2', target: '/etc' }, disk], /\/disk in it is a link/],
        ['climbs', [{ path: '../disk/a', bytes: rawDisk(1) }], /no file in its folder \/disk/],
        ['device', [{ path: 'disk/a', type: '4' }], /no plain file/],
        ['sparse', [{ path: 'disk/a', type: 'S' }], /kept in pieces/],
        ['twice', [disk, disk], /twice in one layer/],
        ['bomb', [{ path: 'disk/a', bytes: Buffer.alloc(6 * mebibyte) }], /its disk has 6291456 bytes/],
        [
          'hidden-bomb',
          [{ path: 'etc/a', bytes: Buffer.alloc(9 * mebibyte) }, disk],
          /too large when it is unpacked/,
        ],
      ];
      for (const [name, files, words] of cases) {
        const { progress } = await fetched(bench, bench.registry.push(`${name}:1`, [gzipSync(tarOf(files))]));
        assert.deepEqual([name, progress.state], [name, 'failed']);
        assert.match(progress.state === 'failed' ? progress.message : '', words);
      }
      const large = bench.registry.push('large:1', [randomBytes(5 * mebibyte)]);
      const damaged = bench.registry.push('damaged:1', [gzipSync(tarOf([disk])).subarray(0, 60)]);
      for (const [reference, words] of [
        [large, /more than the 4194304 that are allowed/],
        [damaged, /cannot be unpacked|ends too early/],
      ] as const) {
        const { progress } = await fetched(bench, reference);
        assert.match(progress.state === 'failed' ? progress.message : '', words);
      }
      const { progress } = await fetched(bench, damaged, { path: '../../etc/passwd' });
      assert.match(progress.state === 'failed' ? progress.message : '', /is no place in an image/);
      assert.deepEqual(await bench.disks.images.list(signal), []);
    }));

  test('skopeo container disks: come from registries that ask who one is', () =>
    withRegistry(async (bench) => {
      bench.registry.credentials = 'jane:secret';
      const reference = bench.registry.pushFiles('private:1', { '/disk/a': rawDisk(1) });
      const refused = await fetched(bench, reference);
      assert.match(JSON.stringify(refused.progress), /unauthorized|authentication required|401/);
      const auth = Buffer.from('jane:secret').toString('base64');
      const credentials = [new Secret(JSON.stringify({ auths: { [bench.registry.host]: { auth } } }))];
      await bench.disks.until(async () => {
        const { progress } = await fetched(bench, reference, { credentials });
        return progress.state === 'done';
      });
    }));
}

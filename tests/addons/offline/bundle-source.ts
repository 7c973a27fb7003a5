import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Disposable } from '@sheaf/base';
import { guestArchive, guestImage } from '@sheaf/testkit/containers/index';
import { packImage } from '../../../packages/drivers/podman/archive/image-archive.ts';
import { Registry } from '../../../packages/drivers/podman/archive/registry.fixture.ts';
import { runProgram } from '../../program.ts';
import { sheafCommand } from '../../sheaf-command.ts';
import { AddonHost } from '../addon-host.ts';
import { ociRepository, writeSource } from './source.ts';
import { packWebChart } from './web-chart.ts';

/** Stored by the host that makes the bundle; such a tag is asked for anew by each pod, usually. */
const storedTag = 'registry.example.org/test/guest:latest';

export interface MadeBundles {
  /** What `sheaf bundle show` says of the first one. */
  readonly shown: readonly string[];
  readonly repository: string;
  readonly registry: string;
}

/**
 * Makes `one.bundle` and `two.bundle` where there is a network, which is the loopback: charts from the host's own directory, from a
 * repository over HTTP and from a file; images from the host's own store and from a registry, by digest.
 */
export async function makeBundles(directory: string, helm: string): Promise<MadeBundles> {
  let made: MadeBundles | undefined;
  const image = packImage(guestImage('127.0.0.1/test/guest:1'));
  const registry = await Registry.open({ images: [image] });
  const charts = join(directory, 'repository');
  try {
    const address = `${registry.address}/test/guest:1@${image.manifest.digest}`;
    await packWebChart(helm, charts, { name: 'second', image: address, policy: 'Always' });
    const repository = await openRepository(helm, charts);
    try {
      const making = { directory, helm, repository: repository.url, registry: registry.address };
      await AddonHost.run(
        async (host) => {
          made = await make(host, making);
        },
        { isBare: true },
      );
    } finally {
      repository.dispose();
    }
  } finally {
    await registry.close();
  }
  if (!made) throw new Error('no bundle was made');
  return made;
}

interface Making {
  readonly directory: string;
  readonly helm: string;
  readonly repository: string;
  readonly registry: string;
}

async function make(
  host: AddonHost,
  { directory, helm, repository, registry }: Making,
): Promise<MadeBundles> {
  const own = join(host.directory, 'charts');
  await packWebChart(helm, own, { name: 'first', image: storedTag, policy: 'Always' });
  await packWebChart(helm, own, { name: 'fourth', image: storedTag, policy: 'IfNotPresent' });
  const third = await packWebChart(helm, directory, { name: 'third', image: 'none', policy: 'IfNotPresent' });
  const thirdValues = JSON.stringify({ image: 'registry.example.org/test/third:1' });
  await writeFile(join(directory, 'values.yaml'), thirdValues);
  await writeSource(directory, { httpRepository: repository, thirdValues });
  for (const tag of [storedTag, 'registry.example.org/test/third:1']) await loadGuest(host, directory, tag);
  await host.make('first', { chart: 'first' });
  await host.make('second', { chart: 'second', repo: repository });
  await host.make('fourth', { chart: 'fourth' });
  const create = (name: string, ...args: readonly string[]): Promise<string> =>
    sheafCommand([
      'bundle',
      'create',
      join(directory, name),
      ...args,
      '--data-dir',
      host.directory,
      '--insecure',
    ]);
  const ofFile = ['--chart', third, '--repo', ociRepository, '--values', join(directory, 'values.yaml')];
  await create('one.bundle', '--addon', 'default/first', '--addon', 'second', ...ofFile);
  await create('two.bundle', '--addon', 'fourth', '--without-helm');
  const shown = await sheafCommand(['bundle', 'show', join(directory, 'one.bundle')]);
  return { shown: shown.trimEnd().split('\n'), repository, registry };
}

async function loadGuest(host: AddonHost, directory: string, tag: string): Promise<void> {
  const file = join(directory, 'guest.tar');
  const pieces: Uint8Array[] = [];
  for await (const piece of guestArchive(tag)) pieces.push(piece);
  await writeFile(file, Buffer.concat(pieces));
  await sheafCommand(['images', 'import', file, '--data-dir', host.directory]);
}

async function openRepository(helm: string, charts: string): Promise<Disposable & { readonly url: string }> {
  await mkdir(charts, { recursive: true });
  const { code, err } = await runProgram(helm, ['repo', 'index', charts]);
  if (code !== 0) throw new Error(`helm repo index: ${err}`);
  const server: Server = createServer((request, response) => {
    readFile(join(charts, new URL(request.url ?? '/', 'http://x').pathname)).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, dispose: () => void server.close() };
}

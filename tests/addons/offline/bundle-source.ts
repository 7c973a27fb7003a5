import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Disposable } from '@sheaf/base';
import { type ChartWish, makeBundle } from '@sheaf/drivers/bundle';
import { packagedRepository } from '@sheaf/drivers/helm';
import { guestImage } from '@sheaf/testkit/containers/index';
import { packImage } from '../../../packages/drivers/podman/archive/image-archive.ts';
import { Registry } from '../../../packages/drivers/podman/archive/registry.fixture.ts';
import { runProgram } from '../../program.ts';
import { ociRepository, writeSource } from './source.ts';
import { packWebChart } from './web-chart.ts';

const registryName = 'registry.example.org';
/** Asked for anew by each pod, usually. */
const latest = `${registryName}/test/guest:latest`;
const plain = `${registryName}/test/third:1`;

/**
 * Makes `one.bundle` and `two.bundle` where there is a network, which is the loopback: charts from files and from a repository over HTTP,
 * images from a registry, by tags and by a digest. Gives the address of the repository, which is gone afterwards.
 */
export async function makeBundles(directory: string, helm: string): Promise<string> {
  const images = [latest, plain].map((name) => packImage(guestImage(name)));
  const registry = await Registry.open({ images });
  const charts = join(directory, 'repository');
  try {
    await useRegistry(directory, registry.address);
    const pinned = `${registryName}/test/third:1@${images[1]?.manifest.digest}`;
    await packWebChart(helm, charts, { name: 'second', image: pinned, policy: 'Always' });
    const repository = await openRepository(helm, charts);
    try {
      await make(directory, helm, repository.url);
      return repository.url;
    } finally {
      repository.dispose();
    }
  } finally {
    await registry.close();
  }
}

async function make(directory: string, helm: string, repository: string): Promise<void> {
  const pack = (name: string, image: string, policy: 'Always' | 'IfNotPresent'): Promise<string> =>
    packWebChart(helm, directory, { name, image, policy });
  const thirdValues = JSON.stringify({ image: plain });
  await writeSource(directory, { httpRepository: repository, thirdValues });
  const wish = (name: string, given: Partial<ChartWish>): ChartWish => ({
    ...{ name, targetNamespace: 'default', repo: packagedRepository, chart: name, version: '1.0.0' },
    ...{ content: '', values: [], set: [], purpose: name, ...given },
  });
  const options = {
    helm,
    chartsDirectory: join(directory, 'none'),
    engineDirectory: join(directory, 'none'),
    isInsecure: true,
    print: () => undefined,
    signal: new AbortController().signal,
  };
  const third = {
    file: await pack('third', 'none', 'IfNotPresent'),
    repo: ociRepository,
    values: [thirdValues],
  };
  const charts = [
    wish('first', { file: await pack('first', latest, 'Always') }),
    wish('second', { repo: repository }),
    wish('third', third),
  ];
  const bundle = { images: [], carriesHelm: true };
  await makeBundle({ ...bundle, charts, path: join(directory, 'one.bundle') }, options);
  const fourth = wish('fourth', { file: await pack('fourth', latest, 'IfNotPresent') });
  const two = { ...bundle, charts: [fourth], carriesHelm: false };
  await makeBundle({ ...two, path: join(directory, 'two.bundle') }, options);
}

/** The registry answers under a name that exists nowhere, for programs with this home directory. */
async function useRegistry(directory: string, address: string): Promise<void> {
  const settings = join(directory, '.config', 'containers');
  await mkdir(settings, { recursive: true });
  const text = `[[registry]]\nprefix = "${registryName}"\nlocation = "${address}"\ninsecure = true\n`;
  await writeFile(join(settings, 'registries.conf'), text);
  process.env['HOME'] = directory;
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

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { ChartNeed, ContainerImage } from '@sheaf/ports';
import { runProgram } from '../qemu/run-program.ts';
import { networkChecks } from '../system/checks/network-checks.ts';
import { HostChartContents } from './chart-contents.ts';
import { storedChartPath } from './chart-store.ts';
import { HelmSource } from './helm-source.ts';

const { signal } = new AbortController();
const builtTools = fileURLToPath(new URL('../../../.cache/tools/', import.meta.url));
const source = new HelmSource({ directories: [builtTools], buildDirectory: '/nonexistent' });
const helm = source.find();
const image: ContainerImage = {
  ...{
    id: 'sha256:0',
    tags: [],
    digests: [],
    bytes: 0,
    user: '',
    entryPoint: [],
    arguments: [],
    createdAt: 0,
  },
};

/** Nobody listens there. */
const closed = '127.0.0.1:1';
const repo = `http://${closed}/charts`;
const need: ChartNeed = {
  ...{ name: 'web', targetNamespace: 'default', repo, chart: 'web', version: '1.0.0', content: '', set: [] },
  values: [`image: ${closed}/web:1`],
};

describe('what a chart finds on its host', { skip: helm === undefined && 'there is no Helm 3' }, () => {
  interface Host {
    /** With these images. */
    contents(images: readonly string[], variables?: Readonly<Record<string, string>>): HostChartContents;
    putChart(name: Pick<ChartNeed, 'repo' | 'chart' | 'version'>): Promise<string>;
    /** Of somebody who answers. */
    readonly open: string;
    readonly work: string;
  }

  async function withHost(use: (host: Host) => Promise<void>): Promise<void> {
    const directory = await mkdtemp(join(tmpdir(), 'chart-contents-'));
    const charts = join(directory, 'charts');
    const work = join(directory, 'work');
    const server: Server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    const address = server.address();
    try {
      await use({
        work,
        open: `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
        contents: (images, variables = {}) =>
          new HostChartContents({
            ...{ source, charts, work, checks: networkChecks, variables },
            images: { find: (name) => Promise.resolve(images.includes(name) ? image : undefined) },
          }),
        async putChart(name) {
          const path = storedChartPath(charts, name) ?? '';
          await mkdir(dirname(path), { recursive: true });
          await rename(await packed(directory), path);
          return path;
        },
      });
    } finally {
      server.close();
      await rm(directory, { recursive: true, force: true });
    }
  }

  async function packed(directory: string): Promise<string> {
    const chart = join(directory, 'web');
    await mkdir(join(chart, 'templates'), { recursive: true });
    await writeFile(join(chart, 'Chart.yaml'), 'apiVersion: v2\nname: web\nversion: 1.0.0\n');
    await writeFile(
      join(chart, 'templates', 'pod.yaml'),
      'kind: Pod\nspec: {containers: [{name: a, image: {{ required "an image" .Values.image | quote }}}, {name: b, image: quay.example/side:2}]}\n',
    );
    await runProgram(helm ?? '', ['package', chart, '--destination', directory]);
    return join(directory, 'web-1.0.0.tgz');
  }

  it('is nothing without its chart: it and its repository are named, unless somebody answers there', () =>
    withHost(async ({ contents, open }) => {
      assert.deepEqual(await contents([]).missing(need, signal), {
        chart: `web 1.0.0 of ${repo}`,
        images: [],
        unreachable: [`${repo} cannot be reached: dial tcp ${closed}: connect: connection refused`],
      });
      const newest = { ...need, repo: '', chart: `oci://${closed}/charts/web`, version: '' };
      const missing = await contents([]).missing(newest, signal);
      assert.equal(missing?.chart, `oci://${closed}/charts/web, its newest version,`);
      assert.equal(await contents([]).missing({ ...need, repo: `http://${open}/charts` }, signal), undefined);
      const proxied = contents([], { http_proxy: `http://${open}` });
      assert.equal(await proxied.missing(need, signal), undefined);
      const noAddress = { ...need, repo: 'file:///charts' };
      assert.equal(await contents([]).missing(noAddress, signal), undefined);
    }));

  it('is its chart without images: those that are missing are named; nobody is asked when all are there', () =>
    withHost(async ({ contents, putChart }) => {
      const path = await putChart(need);
      const side = 'quay.example/side:2';
      const missing = await contents([side]).missing(need, signal);
      assert.deepEqual(missing, {
        chart: undefined,
        images: [`${closed}/web:1`],
        unreachable: [`https://${closed} cannot be reached: dial tcp ${closed}: connect: connection refused`],
      });
      assert.equal(await contents([side, `${closed}/web:1`]).missing(need, signal), undefined);
      const content = (await readFile(path)).toString('base64');
      const inObject = { ...need, repo: '', chart: '', version: '', content };
      assert.deepEqual((await contents([side]).missing(inObject, signal))?.images, [`${closed}/web:1`]);
    }));

  it('is remembered for the same chart filled with the same, and for nothing else', () =>
    withHost(async ({ contents, putChart }) => {
      const path = await putChart(need);
      const asked = contents(['quay.example/side:2']);
      const imagesOf = async (values: string): Promise<readonly string[] | undefined> =>
        (await asked.missing({ ...need, values: [values] }, signal))?.images;
      assert.deepEqual(await imagesOf(`image: ${closed}/a:1`), [`${closed}/a:1`]);
      assert.deepEqual(await imagesOf(`image: ${closed}/b:1`), [`${closed}/b:1`]);
      assert.deepEqual(await imagesOf(`image: ${closed}/a:1`), [`${closed}/a:1`]);
      await writeFile(path, 'no chart any more');
      assert.equal(await imagesOf(`image: ${closed}/a:1`), undefined);
    }));

  it('leaves nothing of what is filled, which may be secret, not even what was left by a process that was killed', () =>
    withHost(async ({ contents, putChart, work }) => {
      const path = await putChart(need);
      await mkdir(join(work, 'filling-of-another'), { recursive: true });
      await writeFile(join(work, 'filling-of-another', 'values-0.yaml'), 'password: secret\n');
      const asked = contents([]);
      await assert.rejects(readdir(work), { code: 'ENOENT' });
      assert.equal((await asked.missing(need, signal))?.images.length, 2);
      const content = (await readFile(path)).toString('base64');
      await asked.missing({ ...need, repo: '', chart: '', version: '', content }, signal);
      assert.deepEqual(await readdir(work), []);
    }));

  it('is left to the operation where templates cannot be filled', () =>
    withHost(async ({ contents, putChart }) => {
      await putChart(need);
      assert.equal(await contents([]).missing({ ...need, values: [] }, signal), undefined);
    }));

  it('is found under each of the names of a chart of a registry', () =>
    withHost(async ({ contents, putChart }) => {
      await putChart({ repo: `oci://${closed}/charts`, chart: 'web', version: '1.0.0' });
      const images = [`${closed}/web:1`, 'quay.example/side:2'];
      for (const name of [
        { repo: `oci://${closed}/charts/`, chart: 'web' },
        { repo: '', chart: `oci://${closed}/charts/web` },
      ])
        assert.equal(await contents(images).missing({ ...need, ...name }, signal), undefined);
      assert.notEqual(await contents(images).missing({ ...need, version: '1.0.1' }, signal), undefined);
    }));
});

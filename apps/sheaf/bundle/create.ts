import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeBundle } from '@sheaf/drivers/bundle';
import type { Arguments } from '../arguments.ts';
import { chartsDirectory, helmSource } from '../helm-host.ts';
import { UsageError } from '../up-options.ts';
import { type HostCommand, textOf, textsOf, withServer } from '../vm/machine-command.ts';
import { addonWish, chartWish, fileWish, type Wish } from './chart-wishes.ts';

const text = { type: 'string' } as const;
const texts = { type: 'string', multiple: true } as const;
const flag = { type: 'boolean' } as const;

export const create: HostCommand = {
  summary: 'Makes a bundle: charts, the images that they run, and Helm, in one archive',
  words: 'FILE [options]',
  options: {
    addon: texts,
    'helm-chart': texts,
    chart: texts,
    repo: text,
    values: texts,
    image: texts,
    insecure: flag,
    'without-helm': flag,
  },
  help: `  --addon [NS/]NAME    an add-on of the server, with its values; may be repeated
  --helm-chart NS/NAME a HelmChart of the server; may be repeated
  --chart FILE         a chart in a file, such as web-1.0.0.tgz; needs no server; may be repeated
  --repo URL           the repository that add-ons name for these files; default: that of the packaged add-ons
  --values FILE        values for these files; may be repeated, later ones override
  --image NAME         an image besides, such as one that an operator runs; may be repeated
  --insecure           repositories and registries are asked without looking at certificates
  --without-helm       leaves Helm out, for hosts that have it

  Images come from the server's data directory on this host where it has them, else from their registries (skopeo); charts likewise
  (helm). Logins of helm and skopeo, and proxies of the environment, are used. The same content gives the same file.
`,
  async runHere(given: Arguments) {
    const {
      flags,
      dataDir,
      positionals: [path = ''],
    } = given;
    const wishes = await wishesOf(given);
    const images = textsOf(flags, 'image');
    if (wishes.length === 0 && images.length === 0)
      throw new UsageError(
        'nothing is chosen: name an add-on with --addon, a file with --chart, or an image with --image',
      );
    const helm = helmSource(dataDir).find();
    if (helm === undefined) throw new Error('Helm 3 is not on this host; put helm on the PATH');
    const stopping = new AbortController();
    process.once('SIGINT', () => stopping.abort());
    const { id, index, bytes } = await makeBundle(
      { path: resolve(path), charts: wishes, images, carriesHelm: flags['without-helm'] !== true },
      {
        helm,
        chartsDirectory: chartsDirectory(dataDir),
        engineDirectory: join(dataDir, 'podman'),
        isInsecure: flags['insecure'] === true,
        print: (line) => void process.stderr.write(`${line}\n`),
        signal: stopping.signal,
      },
    ).catch((error: unknown) => {
      throw stopping.signal.aborted ? new Error('interrupted; nothing was written', { cause: error }) : error;
    });
    const {
      charts,
      images: { length },
    } = index;
    process.stdout.write(
      `${path}: bundle ${id}, ${charts.length} charts, ${length} images, ${bytes} bytes\n`,
    );
    process.stdout.write(`load it where there is no network: sheaf bundle load ${path}\n`);
    return 0;
  },
};

async function wishesOf(given: Arguments): Promise<readonly Wish[]> {
  const { flags } = given;
  const addons = textsOf(flags, 'addon');
  const charts = textsOf(flags, 'helm-chart');
  const files = textsOf(flags, 'chart');
  const values = await Promise.all(textsOf(flags, 'values').map((path) => readFile(path, 'utf8')));
  if (values.length > 0 && files.length === 0)
    throw new UsageError('--values are for --chart FILE; those of an add-on are its own');
  const ofServer =
    addons.length + charts.length === 0
      ? []
      : await withServer(given, async ({ client }) => [
          ...(await Promise.all(addons.map((name) => addonWish(client, name)))),
          ...(await Promise.all(charts.map((name) => chartWish(client, name)))),
        ]);
  const repo = textOf(flags, 'repo');
  return [
    ...ofServer,
    ...files.map((file) => fileWish(file, { values, ...(repo !== undefined && { repo }) })),
  ];
}

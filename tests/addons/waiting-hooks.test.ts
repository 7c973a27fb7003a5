import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { resources } from '@sheaf/client';
import { runProgram } from '../program.ts';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';
import { listenInVain } from './deaf-server.ts';

const name = 'pages';
const hook = { namespace, name: `${name}-pre-install` };

/** Of the hook's Job; empty: there is none. */
async function hookUid({ client }: AddonHost): Promise<string> {
  return (await client.find(resources.jobs, hook))?.metadata.uid ?? '';
}

/** Ends what works on the add-on as by a crash: Helm is told nothing, and its Job begins anew. */
async function killHelm({ client }: AddonHost): Promise<void> {
  const labelSelector = `helmcharts.helm.cattle.io/chart=${name}`;
  const { items } = await client.list(resources.pods, { namespace, labelSelector });
  for (const { metadata } of items)
    await client.delete(resources.pods, { namespace, name: metadata.name ?? '' }, { gracePeriodSeconds: 0 });
}

/** What the add-on says that it is at, when it says these words. */
async function progress(host: AddonHost, words: RegExp): Promise<string> {
  let told = '';
  await host.until(`it says ${words}`, async () => {
    const { status } = await host.addon(name);
    told = status?.conditions?.find(({ type }) => type === 'InProgress')?.message ?? '';
    return words.test(told);
  });
  return told;
}

async function isOff(host: AddonHost): Promise<void> {
  await host.reaches(name, 'AddonDisabled');
  await host.until('nothing is left', async () => (await host.remains()).length === 0);
}

async function switchOff(host: AddonHost): Promise<void> {
  await host.change(name, { enabled: false });
  await isOff(host);
}

describe('hooks that Helm waits for, with the real Helm and real containers', {
  skip: addonsAreMissing ?? false,
}, () => {
  it('are in nobody’s way when it was killed or stopped meanwhile, and go with their add-on', () =>
    AddonHost.run(async (host) => {
      await using deaf = await listenInVain();
      const waits = (): Promise<string> => progress(host, /its hook Job pages-pre-install does not begin/);
      await host.make(name);

      // Helm itself would never replace this one.
      const stuck = `hookImage: ${deaf.address}/none:1\nhookPolicy: hook-succeeded`;
      await host.change(name, { enabled: true, valuesContent: stuck });
      await waits();
      const first = await hookUid(host);
      await killHelm(host);
      await host.until('there is another hook', async () => !['', first].includes(await hookUid(host)));
      await waits();
      await host.change(name, { valuesContent: 'hookPolicy: hook-succeeded' });
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.equal(await hookUid(host), '');

      await host.change(name, { valuesContent: `${stuck}\ntext: second` });
      await waits();
      await switchOff(host);

      const staying = 'hookStays: true\nhookPolicy: before-hook-creation';
      await host.change(name, { enabled: true, valuesContent: staying });
      await progress(
        host,
        /, in the Pod default\/helm-install-pages-\w+, which waits for its hook Job pages-pre-install$/,
      );
      await switchOff(host);
      assert.deepEqual(await host.releases(), []);
    }));

  it('keep no add-on from being switched off where the named way out is taken', () =>
    AddonHost.run(async (host) => {
      await using deaf = await listenInVain();
      await host.make(name, { valuesContent: `lastImage: ${deaf.address}/none:1` });
      await host.change(name, { enabled: true });
      await host.reaches(name, 'AddonDeploySuccessful');
      await host.change(name, { enabled: false });
      const told = await progress(host, /its hook Job pages-post-delete does not begin: [^]*do without/);
      const [, command = ''] = /do without this hook: kubectl ([^;]*);/.exec(told) ?? [];
      assert.equal(command, 'delete job pages-post-delete --namespace default');
      const env = { KUBECONFIG: join(host.directory, 'kubeconfig') };
      const { code, err } = await runProgram('kubectl', command.split(' '), { env });
      assert.equal(code, 0, err);
      await isOff(host);
      assert.deepEqual(await host.releases(), []);
    }));
});

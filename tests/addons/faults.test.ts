import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { Addon } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { packagedRepository } from '@sheaf/drivers/helm';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';
import { listenInVain } from './deaf-server.ts';

const name = 'pages';
/** Nobody listens there. */
const nowhere = '127.0.0.1:1';

/** What the condition says while it is True, else nothing. */
function told({ status }: Addon, type: string): string {
  const condition = status?.conditions?.find((each) => each.type === type);
  return condition?.status === 'True' ? (condition.message ?? '') : '';
}

/** Resolves when the condition says it; how long that took is told, and nothing that is asserted. */
async function says(
  host: AddonHost,
  { type, words }: { readonly type: 'InProgress' | 'OperationFailed'; readonly words: RegExp },
  context: TestContext,
): Promise<Addon> {
  const begun = performance.now();
  let addon = await host.addon(name);
  await host.until(`${type} says ${words}`, async () => {
    addon = await host.addon(name);
    return words.test(told(addon, type));
  });
  context.diagnostic(`after ${Math.round(performance.now() - begun)} ms: ${told(addon, type)}`);
  return addon;
}

describe('what goes wrong with add-ons, with the real Helm and real containers', {
  skip: addonsAreMissing ?? false,
}, () => {
  it('is told with its cause, its nature and the way out while it is still tried, and each can be mended in the middle', (context) =>
    AddonHost.run(async (host) => {
      await using deaf = await listenInVain();
      await host.make(name, { repo: `http://${nowhere}` });
      await host.change(name, { enabled: true });
      await says(
        host,
        {
          type: 'OperationFailed',
          words:
            /^ContentMissing: [^]* cannot be reached: dial tcp 127\.0\.0\.1:1: connect: connection refused; needs someone: /,
        },
        context,
      );

      await host.change(name, { repo: `http://${deaf.address}` });
      await says(host, { type: 'OperationFailed', words: /^RepositoryUnreachable: / }, context);
      const unreached = await says(
        host,
        {
          type: 'OperationFailed',
          words:
            /^RepositoryUnreachable: [^]* cannot be reached: [^]*(EOF|connection reset by peer); the next try begins at \d{4}-[-\dT:]+Z; check the address of the repository and the network; [^]*tried again by itself$/,
        },
        context,
      );
      assert.match(
        told(unreached, 'InProgress'),
        /^its installation is at work since .* in the Job default\/helm-install-pages/,
      );

      await host.change(name, { repo: packagedRepository, valuesContent: 'fails: true' });
      await says(
        host,
        {
          type: 'OperationFailed',
          words:
            /^HookFailed: failed pre-install[^]*\nthe end of the log of the Pod default\/pages-pre-install-\w+:\nno licence; [^]*needs someone: /,
        },
        context,
      );

      await host.change(name, { valuesContent: `hookImage: ${deaf.address}/none:1` });
      const unpulled = await says(
        host,
        {
          type: 'InProgress',
          words:
            /its hook Job pages-pre-install does not begin: [^]*; see that the image can be pulled, or name another one in the values; waits for Pod default\/pages-pre-install-\w+; tried again by itself$/,
        },
        context,
      );
      assert.equal(unpulled.status?.status, 'AddonEnabling');

      const [node] = (await host.client.list(resources.nodes)).items;
      const cordon = async (unschedulable: boolean): Promise<void> => {
        const place = { name: node?.metadata.name ?? '' };
        await host.client.patch(resources.nodes, place, { type: 'merge', body: { spec: { unschedulable } } });
      };
      await cordon(true);
      await host.change(name, { valuesContent: 'text: mended' });
      await says(
        host,
        {
          type: 'InProgress',
          words:
            /unschedulable[^]*; make room, or take away what keeps pods from the node; waits for Pod default\/helm-install-pages-\w+; tried again by itself$/,
        },
        context,
      );
      await cordon(false);
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.equal(told(await host.addon(name), 'OperationFailed'), '');
      assert.deepEqual(await host.releases(), ['pages-1.0.0 deployed']);
    }));

  it('is told of charts of others and of namespaces that end', (context) =>
    AddonHost.run(async (host) => {
      const { client } = host;
      const theirs = await client.create(resources.configMaps, { metadata: { namespace, name: 'theirs' } });
      const { uid = '' } = theirs.metadata;
      await client.create(resources.helmCharts, {
        metadata: {
          namespace,
          name,
          ownerReferences: [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'theirs', uid }],
          annotations: { 'helmcharts.helm.cattle.io/unmanaged': 'true' },
        },
        spec: { chart: name },
      });
      await host.make(name);
      await host.change(name, { enabled: true });
      await says(
        host,
        {
          type: 'OperationFailed',
          words:
            /^ChartOfOthers: .* owned by someone else, cannot proceed; waits for HelmChart default\/pages; needs someone: delete that HelmChart/,
        },
        context,
      );
      await client.delete(resources.helmCharts, { namespace, name });
      await host.reaches(name, 'AddonDeploySuccessful');
      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');

      // Something keeps it for ever.
      await client.create(resources.namespaces, { metadata: { name: 'ending' } });
      const held = { namespace: 'ending', name: 'held' };
      await client.create(resources.configMaps, { metadata: { ...held, finalizers: ['sheaf.test/held'] } });
      await client.delete(resources.namespaces, { name: 'ending' });
      const elsewhere = { namespace, name: 'elsewhere' };
      await client.create(resources.helmCharts, {
        metadata: elsewhere,
        spec: { chart: name, repo: packagedRepository, version: '1.0.0', targetNamespace: 'ending' },
      });
      await host.until('the chart tells of the namespace', async () => {
        const { status } = await client.get(resources.helmCharts, elsewhere);
        const deployed = status?.conditions?.find(({ type }) => type === 'Deployed');
        return (
          deployed?.reason === 'NamespaceTerminating' &&
          deployed.message?.includes('needs someone: ') === true
        );
      });
      await client.delete(resources.helmCharts, elsewhere);
      await client.patch(resources.configMaps, held, {
        type: 'merge',
        body: { metadata: { finalizers: null } },
      });
      await host.until('the namespace has gone', async () => {
        return (await client.find(resources.namespaces, { name: 'ending' })) === undefined;
      });
    }));
});

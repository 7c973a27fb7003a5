import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { parse, stringify } from 'yaml';
import { runProgram } from '../program.ts';
import { findKubectl } from '../tools.ts';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const name = 'pages';
const kubectl = await findKubectl();
const isMissing = addonsAreMissing ?? ('missing' in kubectl ? kubectl.missing : undefined);

async function runKubectl({ directory }: AddonHost, args: readonly string[], input = ''): Promise<string> {
  const env = { KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory };
  const program = 'path' in kubectl ? kubectl.path : '';
  const { code, out, err } = await runProgram(program, [...args, '--namespace', namespace], { env, input });
  if (code !== 0) throw new Error(`kubectl ${args.join(' ')}: ${err}`);
  return out;
}

/** The revisions of the release, the pods that serve, and the operations: each as itself. */
async function livesOf(host: AddonHost): Promise<object> {
  const history = await host.helm('history', name, '--namespace', namespace, '--output', 'json');
  const pods = await host.client.list(resources.pods, { namespace });
  const jobs = await host.client.list(resources.jobs, { namespace });
  const uidsOf = (items: readonly KubeObject[]): ReadonlySet<unknown> =>
    new Set(items.map(({ metadata }) => metadata.uid));
  return {
    history: JSON.parse(history) as unknown,
    pods: uidsOf(pods.items),
    jobs: uidsOf(jobs.items),
  };
}

describe('an add-on in a file, with the real Helm and real containers', { skip: isMissing ?? false }, () => {
  it('that is deleted alone and applied again reaches its state, and its healthy release is not touched', () =>
    AddonHost.run(async (host) => {
      await host.make(name, { valuesContent: 'text: kept' });
      await host.change(name, { enabled: true });
      await host.until('it serves', async () => (await host.page(name)) === 'kept 1.0.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');
      const before = await livesOf(host);

      const exported = parse(await runKubectl(host, ['get', 'addon', name, '--output', 'yaml'])) as {
        readonly metadata: Readonly<Record<string, unknown>>;
      };
      const { annotations, labels } = exported.metadata;
      const file = { ...exported, status: undefined, metadata: { name, annotations, labels } };
      await runKubectl(host, ['delete', 'addon', name, '--cascade=orphan']);
      await runKubectl(host, ['apply', '--filename', '-'], stringify(file));

      await host.reaches(name, 'AddonDeploySuccessful');
      assert.deepEqual(await livesOf(host), before);
      const { metadata } = await host.client.get(resources.helmCharts, { namespace, name });
      const { metadata: own } = await host.addon(name);
      assert.deepEqual(
        metadata.ownerReferences?.map(({ uid }) => uid),
        [own.uid],
      );

      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');
      assert.deepEqual(await host.releases(), []);
    }));
});

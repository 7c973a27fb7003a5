import { it } from 'node:test';
import { resources } from '@sheaf/client';
import { runProgram } from '../program.ts';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const name = 'pages';

async function whyNot(): Promise<string | undefined> {
  const version = await runProgram('helm', ['version', '--short']).catch(() => undefined);
  return version?.out.startsWith('v4.') ? addonsAreMissing : 'the helm of the PATH is not Helm 4';
}

it(
  'a field that somebody else has set is told of, and taken back where that is asked for',
  { skip: (await whyNot()) ?? false },
  () =>
    AddonHost.run(async (host) => {
      await host.make(name);
      await host.change(name, { enabled: true });
      await host.reaches(name, 'AddonDeploySuccessful');
      // As kubectl scale does it.
      await host.client.patch(
        resources.deployments,
        { namespace, name },
        { type: 'merge', body: { spec: { replicas: 2 } }, fieldManager: 'kubectl' },
      );
      await host.change(name, { valuesContent: 'text: changed' });
      await host.until('the conflict is told', async () => {
        const told = JSON.stringify((await host.addon(name)).status?.conditions);
        return /FieldsOfOthers: [^]*\.spec\.replicas[^]*forceConflicts/.test(told);
      });
      await host.client.create(resources.helmChartConfigs, {
        metadata: { namespace, name },
        spec: { forceConflicts: true },
      });
      await host.until('it serves', async () => (await host.page(name)) === 'changed 1.0.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');
    }),
);

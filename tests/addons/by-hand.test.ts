import assert from 'node:assert/strict';
import { join } from 'node:path';
import { it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const smallPath = fileURLToPath(new URL('./small-chart', import.meta.url));
const name = 'pages';

it(
  'what somebody does to the release of an add-on by hand is told, not undone, and undone when that is asked for',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(async (host) => {
      const says = (words: RegExp): Promise<void> =>
        host.until(`it says ${words}`, async () => {
          const { status } = await host.addon(name);
          const failed = status?.conditions?.find(({ type }) => type === 'OperationFailed');
          return failed?.status === 'True' && words.test(failed.message ?? '');
        });
      const serves = (text: string): Promise<void> =>
        host.until(`it serves ${text}`, async () => (await host.page(name)) === `${text} 1.0.0\n`);
      let tries = 0;
      const tryAgain = async (): Promise<void> => {
        await host.annotate(name, { 'sheaf.dev/retry': String(++tries) });
        await host.reaches(name, 'AddonDeploySuccessful');
      };
      const place = ['--namespace', namespace];

      const small = join(host.directory, 'small-1.0.0.tgz');
      await host.helm('package', smallPath, '--destination', host.directory);
      await host.helm('install', name, small, ...place);
      await host.make(name, { valuesContent: 'text: first', enabled: true });
      await says(
        /^ReleaseOfOthers: a release pages of the chart small is there already, made by hand; [^]*helm uninstall/,
      );
      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');
      assert.deepEqual(await host.releases(), ['small-1.0.0 deployed']);
      await host.helm('uninstall', name, ...place);
      await host.change(name, { enabled: true });
      await host.reaches(name, 'AddonDeploySuccessful');
      await host.change(name, { valuesContent: 'text: second' });
      await serves('second');
      await host.reaches(name, 'AddonDeploySuccessful');

      await host.helm('rollback', name, '1', ...place);
      await says(
        /^ReleaseChanged: [^]* in its revision 3, [^]*needs someone: set the annotation sheaf.dev\/retry/,
      );
      await serves('first');
      await tryAgain();
      await serves('second');

      const archive = join(host.directory, 'charts', 'pages-1.0.0.tgz');
      await host.helm('upgrade', name, archive, '--reuse-values', '--set', 'text=mine', ...place);
      await says(/^ReleaseChanged: [^]* in its revision 5, /);
      await serves('mine');
      await tryAgain();
      await serves('second');

      await host.helm('uninstall', name, ...place);
      await says(/^ReleaseRemoved: its release pages in the namespace default is not there any more/);
      await tryAgain();
      await serves('second');
      await host.helm('uninstall', name, ...place);
      await host.change(name, { enabled: false });
      await host.reaches(name, 'AddonDisabled');
      assert.deepEqual(await host.releases(), []);
    }),
);

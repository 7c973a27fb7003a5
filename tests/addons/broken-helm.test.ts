import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { AddonHost, addonsAreMissing } from './addon-host.ts';

const name = 'pages';

/** Programs that are called helm, and what is told of them. */
const programs: Readonly<Record<string, RegExp>> = {
  'echo this is no helm':
    /^HelmUnusable: \S+\/helm ends well, and the release is not there, not as it was told/,
  'exit 7': /^HelmUnusable: \S+\/helm has ended with 7 and said nothing; [^]*needs someone: put a Helm 3/,
  'kill -9 $$': /^Killed: \S+\/helm was ended by a signal; /,
};

it(
  'a helm that is none, or does not work, is told with its place, and the true one goes on',
  { skip: addonsAreMissing ?? false },
  () =>
    AddonHost.run(async (host) => {
      const tools = join(host.directory, 'own');
      const path = join(tools, 'helm');
      await mkdir(tools);
      await host.kill();
      await host.start({ env: { PATH: `${tools}:${process.env['PATH']}` } });
      await host.make(name);
      await host.change(name, { enabled: true });
      for (const [body, words] of Object.entries(programs)) {
        await writeFile(path, `#!/bin/sh\n${body}\n`);
        await chmod(path, 0o755);
        // Whatever was told is told of the program that is there now.
        await host.change(name, { valuesContent: `text: ${Object.keys(programs).indexOf(body)}` });
        await host.until(`it says ${words}`, async () => {
          const { status } = await host.addon(name);
          const failed = status?.conditions?.find(({ type }) => type === 'OperationFailed');
          return words.test(failed?.message ?? '');
        });
      }
      await rm(path);
      await host.reaches(name, 'AddonDeploySuccessful');
    }),
);

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setTimeout as pass } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Pod } from '@sheaf/api/workload/index';
import { Client, httpTransport, readKubeconfig, resources } from '@sheaf/client';
import { guestArchive } from '@sheaf/testkit/containers/index';
import { type ProgramResult, runProgram } from '../program.ts';
import { type SheafProcess, startSheaf } from '../sheaf-process.ts';
import { remainsOf, removeRemains } from './container-remains.ts';
import { containersAreMissing, guestTag } from './workload-host.ts';

/** Bounds the waiting of a test; nothing that is asserted. */
const patienceMs = 180_000;
/** Longer than podman takes on its command line, and than the kernel takes for the path of a socket. */
const longName = 'a-long-directory-'.repeat(8);
const key = { namespace: 'default', name: 'early' };
const launcher = fileURLToPath(new URL('../../scripts/sheaf.sh', import.meta.url));
/** A host of its own as far as files go: there podman cannot be executed. Then it becomes the program. */
const withoutPodman = 'mount --bind /dev/null /usr/bin/podman && exec "$0" "$@"';

const namespaces = await runProgram('unshare', ['-m', 'sh', '-c', withoutPodman, 'true']).catch(
  () => undefined,
);
const skip = containersAreMissing ?? (namespaces?.code === 0 ? false : 'no mount namespace can be made here');

/** A Sheaf that does not find podman. */
class LateHost {
  readonly client: Client;
  readonly #directory: string;
  readonly #sheaf: SheafProcess;

  constructor(directory: string, sheaf: SheafProcess, client: Client) {
    this.#directory = directory;
    this.#sheaf = sheaf;
    this.client = client;
  }

  async installPodman(): Promise<void> {
    const words = ['--target', `${this.#sheaf.pid}`, '--mount', 'umount', '/usr/bin/podman'];
    const { code, err } = await runProgram('nsenter', words);
    assert.equal(code, 0, err);
  }

  command(...words: string[]): Promise<ProgramResult> {
    const env = { SHEAF_NODE: process.execPath };
    return runProgram('sh', [launcher, ...words, '--data-dir', this.#directory], { env });
  }

  async pod(): Promise<Pod | undefined> {
    const { items } = await this.client.list(resources.pods, { namespace: key.namespace });
    return items.find(({ metadata }) => metadata.name === key.name);
  }

  async until(goal: string, claim: () => Promise<boolean>): Promise<void> {
    const limit = performance.now() + patienceMs;
    while (!(await claim())) {
      if (performance.now() > limit)
        assert.fail(`${goal}: ${JSON.stringify((await this.pod())?.status)}\n${this.#sheaf.log()}`);
      await pass(250);
    }
  }
}

async function withLateHost(use: (host: LateHost, directory: string) => Promise<void>): Promise<void> {
  const root = await mkdtemp(join(tmpdir(), 'late-'));
  const directory = join(root, longName);
  const sheaf = await startSheaf({ directory, through: ['unshare', '-m', 'sh', '-c', withoutPodman] });
  const transport = httpTransport(readKubeconfig(await readFile(sheaf.kubeconfig, 'utf8')));
  try {
    const client = new Client({ transport, userAgent: 'late-podman' });
    await use(new LateHost(directory, sheaf, client), directory);
  } finally {
    transport.close();
    await sheaf.stop();
    await removeRemains(directory);
    await rm(root, { recursive: true, force: true });
  }
}

function scheduling(pod: Pod | undefined): string {
  const found = pod?.status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return `${found?.status} ${found?.message}`;
}

function isRunning(pod: Pod | undefined): boolean {
  return pod?.status?.containerStatuses?.[0]?.state?.running !== undefined;
}

describe('a host on which podman is installed late, with a long data directory', { skip }, () => {
  it('tells pods what to install, runs them when it is there, and leaves nothing', () =>
    withLateHost(async (host, directory) => {
      const { client } = host;
      const container = {
        name: 'guest',
        image: guestTag,
        imagePullPolicy: 'Never',
        args: ['print ready', 'stay'],
      } as const;
      await host.until('there is an account for pods', async () => {
        const { items } = await client.list(resources.serviceAccounts, { namespace: key.namespace });
        return items.length > 0;
      });
      await client.create(resources.pods, { metadata: key, spec: { containers: [container] } });
      await host.until('it says what is missing', async () =>
        /^False .*podman is not installed.*apt-get install .*podman/.test(scheduling(await host.pod())),
      );
      const why = await host.command('why', `pod/${key.name}`, '-n', key.namespace);
      assert.match(why.out, /podman is not installed/);
      assert.match(why.out, /apt-get install .*podman/);

      await host.installPodman();
      await host.until('it is scheduled', async () => scheduling(await host.pod()).startsWith('True'));
      const archive = join(directory, 'guest.tar');
      await writeFile(archive, guestArchive(guestTag));
      const imported = await host.command('images', 'import', archive);
      assert.equal(imported.code, 0, imported.err);
      await host.until('it runs', async () => isRunning(await host.pod()));
      const logOf = `/api/v1/namespaces/${key.namespace}/pods/${key.name}/log`;
      await host.until('its log is there', async () => {
        const answer = await client.send({ method: 'GET', target: logOf });
        return (await answer.text()) === 'ready\n';
      });

      await client.delete(resources.pods, key, { gracePeriodSeconds: 0 });
      await host.until('it is gone', async () => (await host.pod()) === undefined);
      const records = join(directory, 'podman/records');
      await host.until('its containers are gone', async () => (await readdir(records)).length === 0);
      // Not before: here their networks cannot be seen, and podman minds.
      await host.until('nothing of it is left', async () => (await remainsOf(directory)).length === 0);
      const outside = await readdir('/run');
      assert.deepEqual(
        outside.filter((name) => name.startsWith('sheaf')),
        [],
      );
    }));
});

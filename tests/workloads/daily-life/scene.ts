import assert from 'node:assert/strict';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Client, resources } from '@sheaf/client';
import { guestArchive } from '@sheaf/testkit/containers/index';
import { eventually, Installation } from '../../e2e/installation.ts';
import { runProgram } from '../../program.ts';
import { findKubectl } from '../../tools.ts';
import { remainsOf, removeRemains } from '../container-remains.ts';
import { type RunningKubectl, startKubectl } from '../kubectl.ts';
import { containersAreMissing, guestTag } from '../workload-host.ts';

const tool = await findKubectl();
export const skip = containersAreMissing ?? ('missing' in tool ? tool.missing : false);

/** Kubectl waits by itself; this bounds a test that would never end. */
const patience = '--timeout=180s';

/** A whole Sheaf as a user has it, with an image to run, and kubectl as the only way in. */
export class DailyLife {
  readonly sheaf: Installation;
  readonly #started: RunningKubectl[] = [];
  #hasDisk = false;

  private constructor(sheaf: Installation) {
    this.sheaf = sheaf;
  }

  /** `diskBytes`: all that its directory has, in a file system of its own. */
  static async begin({ diskBytes }: { readonly diskBytes?: number } = {}): Promise<DailyLife> {
    const sheaf = await Installation.make('path' in tool ? tool.path : '');
    const scene = new DailyLife(sheaf);
    try {
      if (diskBytes !== undefined) await scene.#mountDisk(diskBytes);
      await sheaf.start();
      const archive = join(sheaf.directory, 'guest.tar');
      await writeFile(archive, guestArchive(guestTag));
      const { code, err } = await sheaf.sheaf('images', 'import', archive);
      assert.equal(code, 0, err);
    } catch (error) {
      await scene.end();
      throw error;
    }
    return scene;
  }

  async end(): Promise<void> {
    for (const { process: child } of this.#started) child.kill('SIGKILL');
    await this.sheaf.stop();
    await removeRemains(this.sheaf.directory);
    if (this.#hasDisk) await runProgram('umount', ['--lazy', this.sheaf.directory]);
    await this.sheaf.remove();
    await rm(this.sheaf.directory, { recursive: true, force: true });
  }

  async #mountDisk(bytes: number): Promise<void> {
    const options = `size=${bytes},mode=0700`;
    const { code, err } = await runProgram('mount', [
      '-t',
      'tmpfs',
      '-o',
      options,
      'sheaf',
      this.sheaf.directory,
    ]);
    assert.equal(code, 0, err);
    this.#hasDisk = true;
  }

  client(): Promise<Client> {
    return this.sheaf.client();
  }

  /** What it says on success; the words of one command, without quotes. */
  async kubectl(words: string, ...further: readonly string[]): Promise<string> {
    return await this.sheaf.kubectl([...words.split(' '), ...further]);
  }

  /** What it says when it fails, as it must. */
  async refused(words: string): Promise<string> {
    const { code, err } = await this.sheaf.tryKubectl(words.split(' '));
    assert.notEqual(code, 0, `kubectl ${words} is not refused`);
    return err;
  }

  start(words: string, ...further: readonly string[]): RunningKubectl {
    const started = startKubectl('path' in tool ? tool.path : '', [...words.split(' '), ...further], {
      KUBECONFIG: this.sheaf.kubeconfig,
      HOME: this.sheaf.directory,
    });
    this.#started.push(started);
    return started;
  }

  async apply(file: string): Promise<string> {
    return await this.kubectl('apply -f', fileURLToPath(new URL(file, import.meta.url)));
  }

  /** Until the roll-out is over. */
  rolledOut(what: string): Promise<string> {
    return this.kubectl(`rollout status ${what} ${patience}`);
  }

  waited(what: string): Promise<string> {
    return this.kubectl(`wait ${what} ${patience}`);
  }

  /** In the order in which they were made. */
  async podNames(app: string): Promise<readonly string[]> {
    const names = await this.kubectl(`get pods -l app=${app} --sort-by=.metadata.creationTimestamp -o name`);
    return names.split('\n').filter((name) => name !== '');
  }

  async until(goal: string, claim: () => Promise<boolean>): Promise<void> {
    let story = '';
    await eventually(
      async () => {
        if (await claim()) return true;
        story = await this.kubectl('get all -o wide');
        return false;
      },
      { goal },
      () => story,
    );
  }

  /** Everything in the namespace goes, and nothing of it stays on the host. */
  async removeAll(...kinds: readonly string[]): Promise<void> {
    await this.kubectl(`delete ${kinds.join(',')} --all ${patience}`);
    const client = await this.client();
    let left: readonly string[] = [];
    await eventually(
      async () => {
        const { items } = await client.list(resources.pods, { namespace: 'default' });
        left = [
          ...items.map(({ metadata }) => `pod ${metadata.name}`),
          ...(await remainsOf(this.sheaf.directory)),
        ];
        return left.length === 0;
      },
      { goal: 'nothing is left of the pods' },
      () => left.join('\n'),
    );
  }
}

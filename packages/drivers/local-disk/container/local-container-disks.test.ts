import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import type { ContainerDiskObservation } from '@sheaf/ports';
import { TestClock } from '@sheaf/testkit';
import {
  type ContainerDisksParts,
  type ContainerRecord,
  LocalContainerDisks,
} from './local-container-disks.ts';

const { signal } = new AbortController();

/** All images are here; what a name stands for is told, and a look at one image can be held up. */
class Surroundings {
  digest = 'one';
  held: { readonly id: string; readonly goesOn: Promise<void> } | undefined;
  readonly #records = new Map<string, ContainerRecord>();
  readonly #announced: (() => void)[] = [];

  disks(): LocalContainerDisks {
    const parts = {
      disk: { clock: new TestClock(), logger: silentLogger },
      records: {
        get: (id: string) => this.#records.get(id),
        put: async (record: ContainerRecord) => void this.#records.set(record.id, record),
      },
      images: {
        find: async (id: string) => {
          if (this.held?.id === id) await this.held.goesOn;
          return { id, progress: { state: 'done' }, image: { virtualBytes: 1 } };
        },
      },
      fetch: { resolve: async () => ({ digest: this.digest }) },
      announcer: { announce: () => this.#announced.splice(0).forEach((tell) => tell()) },
    };
    return new LocalContainerDisks(parts as unknown as ContainerDisksParts);
  }

  nextEnd(): Promise<void> {
    return new Promise((resolve) => this.#announced.push(resolve));
  }
}

it('a look-up that ends while what was here before is looked at is told by the next call', async () => {
  const surroundings = new Surroundings();
  const disks = surroundings.disks();
  const fetch = (occasion: string): Promise<ContainerDiskObservation> => {
    const order = { reference: 'here/a:latest', policy: 'Always', occasion, access: {} } as const;
    return disks.fetch(order, signal);
  };
  const fetchWhole = async (occasion: string): Promise<string> => {
    const ended = surroundings.nextEnd();
    await fetch(occasion);
    await ended;
    return (await fetch(occasion)).image?.id ?? assert.fail('it is not here');
  };
  const first = await fetchWhole('a');
  surroundings.digest = 'two';
  const ended = surroundings.nextEnd();
  const gate = Promise.withResolvers<void>();
  surroundings.held = { id: first, goesOn: gate.promise };
  const begins = fetch('b');
  surroundings.held = undefined;
  gate.resolve();
  assert.equal((await begins).progress.state, 'working');
  const second = Promise.withResolvers<void>();
  surroundings.held = { id: first, goesOn: second.promise };
  const meanwhile = fetch('b');
  await ended;
  second.resolve();
  assert.deepEqual(await meanwhile, { progress: { state: 'working', percent: 0 } });
  assert.notEqual((await fetch('b')).image?.id, first);
});

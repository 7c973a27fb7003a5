import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StartLedger } from './start-ledger.ts';

const amounts = { cpuMillis: 100, memoryBytes: 1 };

/** A host with so many places, and the looks at it that are under way; each one ends when the test says so. */
class LookedAt {
  readonly places: number;
  readonly #open: { readonly resolve: () => void; readonly reject: (error: Error) => void }[] = [];
  looks = 0;

  constructor(places: number) {
    this.places = places;
  }

  look = (): Promise<void> => {
    this.looks++;
    return new Promise((resolve, reject) => this.#open.push({ resolve, reject }));
  };

  async finish(error?: Error): Promise<void> {
    await settled();
    const look = this.#open.shift();
    if (error) look?.reject(error);
    else look?.resolve();
    await settled();
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
}

function ledgerOf(): { ledger: StartLedger; pass: (milliseconds: number) => void } {
  let nowMs = 0;
  const ledger = new StartLedger({ keepMs: 1000, monotonicMs: () => nowMs });
  return {
    ledger,
    pass: (milliseconds) => {
      nowMs += milliseconds;
    },
  };
}

function begin(ledger: StartLedger, host: LookedAt, id: string): Promise<string> {
  const judge = (_: unknown, starting: ReadonlyMap<string, unknown>): 'full' | undefined =>
    starting.size < host.places ? undefined : 'full';
  return ledger
    .begin({ id, amounts }, { look: host.look, judge })
    .then((obstacle) => `${id} ${obstacle ?? 'begun'}`)
    .catch((error: unknown) => `${id} failed: ${String(error)}`);
}

describe('looks for many starts', () => {
  it('are one for those that ask at once, and each place is given once', async () => {
    const { ledger } = ledgerOf();
    const host = new LookedAt(8);
    const all = Promise.all(['a', 'b', 'c'].map((id) => begin(ledger, host, id)));
    await host.finish();
    assert.deepEqual(await all, ['a begun', 'b begun', 'c begun']);
    assert.equal(host.looks, 1);
  });

  it('serve those that ask within a second, and no later', async () => {
    const { ledger, pass } = ledgerOf();
    const host = new LookedAt(8);
    const first = begin(ledger, host, 'a');
    await host.finish();
    assert.deepEqual([await first, await begin(ledger, host, 'b'), host.looks], ['a begun', 'b begun', 1]);
    pass(1001);
    const later = begin(ledger, host, 'c');
    await host.finish();
    assert.deepEqual([await later, host.looks], ['c begun', 2]);
  });

  it('refuse nobody that came after they began: it is looked again, once for all of them', async () => {
    const { ledger } = ledgerOf();
    const host = new LookedAt(1);
    const first = begin(ledger, host, 'a');
    await settled();
    const others = Promise.all([begin(ledger, host, 'b'), begin(ledger, host, 'c')]);
    await host.finish();
    assert.equal(await first, 'a begun');
    assert.equal(host.looks, 2);
    ledger.end('a');
    await host.finish();
    // What was under way when the look began may be among what it found.
    assert.deepEqual(await others, ['b full', 'c full']);
    assert.equal(host.looks, 2);
    const last = begin(ledger, host, 'd');
    await host.finish();
    assert.deepEqual([await last, host.looks], ['d begun', 3]);
  });

  it('are taken anew by those who waited for one that failed', async () => {
    const { ledger } = ledgerOf();
    const host = new LookedAt(8);
    const first = begin(ledger, host, 'a');
    await settled();
    const others = Promise.all([begin(ledger, host, 'b'), begin(ledger, host, 'c')]);
    await host.finish(new Error('no answer'));
    assert.equal(await first, 'a failed: Error: no answer');
    assert.equal(host.looks, 2);
    await host.finish();
    assert.deepEqual(await others, ['b begun', 'c begun']);
    assert.equal(host.looks, 2);
  });
});

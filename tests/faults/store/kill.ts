/**
 * Kills a process that writes to a store, at random moments, and checks each time that nothing acknowledged is lost and
 * nothing refused has appeared. `node tests/faults/store/kill.ts 100` runs a hundred rounds; a second argument is the seed.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { openSqliteStore, type Store, type StoreChange } from '@sheaf/store';
import { systemClock } from './system-clock.ts';

interface Acknowledged {
  readonly revision: number;
  readonly key: string;
  /** What the value begins with; empty for a deletion. */
  readonly token: string;
}

interface Outcome {
  readonly opened?: number;
  readonly acknowledged: readonly Acknowledged[];
  readonly refused: ReadonlySet<string>;
}

export interface KillSummary {
  readonly kills: number;
  readonly acknowledged: number;
  /** Written, but killed before it was reported. */
  readonly unreported: number;
}

/** @throws AssertionError as soon as a round finds something wrong */
export async function runKills(kills: number, seed: number): Promise<KillSummary> {
  const directory = mkdtempSync(join(tmpdir(), 'sheaf-kill-'));
  const state = new Map<string, number>();
  let verified = 0;
  let acknowledged = 0;
  let written = 0;
  try {
    for (let round = 0; round < kills; round++) {
      const outcome = await killOnce(directory, { seed: seed * 1000 + round, delayMs: delayOf(seed, round) });
      const store = await openSqliteStore({ directory, clock: systemClock });
      if (verified === 0) verified = store.compactedRevision;
      const changes = await changesAfter(store, verified);
      checkRound(outcome, changes, verified);
      for (const change of changes) apply(state, change);
      await checkState(store, state);
      verified = store.revision;
      acknowledged += outcome.acknowledged.length;
      written += changes.length;
      await store.close();
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  return { kills, acknowledged, unreported: written - acknowledged };
}

/** From just opened to well under load, spread evenly. */
function delayOf(seed: number, round: number): number {
  return ((seed * 31 + round * 61) % 97) * 3;
}

async function killOnce(
  directory: string,
  options: { readonly seed: number; readonly delayMs: number },
): Promise<Outcome> {
  const victim = spawn(
    process.execPath,
    [join(import.meta.dirname, 'kill-victim.ts'), directory, String(options.seed)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const exited = new Promise<string | null>((resolve) => victim.on('close', (_, signal) => resolve(signal)));
  const acknowledged: Acknowledged[] = [];
  const refused = new Set<string>();
  let opened: number | undefined;
  const kill = (): boolean => victim.kill('SIGKILL');
  // Some are killed while they start or open, which takes about so long.
  if (options.seed % 6 === 0) setTimeout(kill, 150 + options.delayMs * 2);
  const lines = createInterface({ input: victim.stdout });
  lines.on('line', (line) => {
    // The last line may be cut.
    if (!line.endsWith('}')) return;
    const entry = JSON.parse(line) as Acknowledged & { opened?: number; refused?: string };
    if (entry.refused) refused.add(entry.refused);
    else if (entry.opened === undefined) acknowledged.push(entry);
    else {
      opened = entry.opened;
      setTimeout(kill, options.delayMs);
    }
  });
  assert.equal(await exited, 'SIGKILL', 'the writer ended by itself');
  return { ...(opened === undefined ? {} : { opened }), acknowledged, refused };
}

async function changesAfter(store: Store, after: number): Promise<StoreChange[]> {
  const changes: StoreChange[] = [];
  const watch = await store.watch({ prefix: '', after }, (change) => changes.push(change));
  while ((changes.at(-1)?.revision ?? after) < store.revision)
    await new Promise((resolve) => setImmediate(resolve));
  watch.dispose();
  return changes;
}

function tokenOf(change: StoreChange): string {
  if (!change.value) return '';
  const text = Buffer.from(change.value).toString();
  return text.slice(0, text.indexOf('|'));
}

function checkRound(outcome: Outcome, changes: readonly StoreChange[], verified: number): void {
  if (outcome.opened !== undefined)
    assert.equal(outcome.opened, verified || outcome.opened, 'opened elsewhere');
  for (const [index, change] of changes.entries()) {
    assert.equal(change.revision, verified + 1 + index, 'revisions have a gap');
    assert.ok(!outcome.refused.has(tokenOf(change)), `refused, but there: revision ${change.revision}`);
  }
  for (const { revision, key, token } of outcome.acknowledged) {
    const change = changes[revision - verified - 1];
    assert.ok(change, `acknowledged, but lost: revision ${revision}`);
    assert.deepEqual([change.key, tokenOf(change)], [key, token], `revision ${revision} has changed`);
  }
}

function apply(state: Map<string, number>, change: StoreChange): void {
  assert.equal(
    change.previous?.revision,
    state.get(change.key),
    `revision ${change.revision} replaced another`,
  );
  if (change.value) state.set(change.key, change.revision);
  else state.delete(change.key);
}

async function checkState(store: Store, state: ReadonlyMap<string, number>): Promise<void> {
  const { records } = await store.range({ prefix: '' });
  assert.deepEqual(
    records.map((record) => [record.key, record.revision]),
    [...state].sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  assert.equal((await store.size()).keys, state.size);
}

if (pathToFileURL(process.argv[1] ?? '').href === import.meta.url) {
  const summary = await runKills(Number(process.argv[2] ?? 100), Number(process.argv[3] ?? 1));
  process.stdout.write(`${JSON.stringify(summary)}\n`);
}

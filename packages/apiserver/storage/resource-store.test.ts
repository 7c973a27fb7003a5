import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { MemoryStore, RevisionConflict } from '@sheaf/store';
import type { EntryChange } from './entry.ts';
import { Keyspace } from './keyspace.ts';
import { ResourceStore } from './resource-store.ts';
import { plainTransformer } from './transformer.ts';

const widgets = { group: 'example.com', plural: 'widgets' };

function widget(name: string, size: number): KubeObject {
  return { kind: 'Widget', apiVersion: 'example.com/v1', metadata: { name, namespace: 'n' }, size };
}

function at(name: string): { namespace: string; name: string } {
  return { namespace: 'n', name };
}

async function open(): Promise<{ store: MemoryStore; keyspace: Keyspace; resources: ResourceStore }> {
  const store = new MemoryStore();
  const keyspace = await Keyspace.open(store);
  const resources = new ResourceStore(keyspace, widgets, plainTransformer);
  await resources.load();
  return { store, keyspace, resources };
}

function seen(change: EntryChange): string {
  const shown = change.entry ?? change.lastState;
  return `${change.previous ? (change.entry ? 'modified' : 'deleted') : 'added'} ${shown?.name} ${JSON.stringify(shown?.object['size'])}@${shown?.revision}`;
}

describe('resource store', () => {
  it('shows a write before its writer is told', async () => {
    const { resources } = await open();
    const entry = await resources.create(at('a'), widget('a', 1));
    assert.equal(resources.get(at('a')), entry);
    assert.equal(entry.object.metadata.resourceVersion, String(entry.revision));
    await assert.rejects(resources.create(at('a'), widget('a', 2)), RevisionConflict);
  });

  it('asks again from the newest state when someone else was faster', async () => {
    const { resources } = await open();
    await resources.create(at('a'), widget('a', 0));
    const add = () =>
      resources.change(at('a'), (entry) => {
        const object = entry.copyObject();
        return { write: { ...object, size: Number(object['size']) + 1 } };
      });
    await Promise.all(Array.from({ length: 20 }, add));
    assert.equal(resources.get(at('a'))?.object['size'], 20);
  });

  it('writes nothing when the content stays', async () => {
    const { resources, keyspace } = await open();
    const entry = await resources.create(at('a'), widget('a', 1));
    const result = await resources.change(at('a'), (current) => ({ write: current.copyObject() }));
    assert.deepEqual([result?.outcome, keyspace.revision], ['unchanged', entry.revision]);
  });

  it('watches from any version on, without gap or repetition, also from before it was loaded', async () => {
    const { store, resources, keyspace } = await open();
    const first = await resources.create(at('a'), widget('a', 1));
    await resources.change(at('a'), (entry) => ({ write: { ...entry.copyObject(), size: 2 } }));
    const late = new ResourceStore(await Keyspace.open(store), widgets, plainTransformer);
    await late.load();
    const fromPast: string[] = [];
    const fromWindow: string[] = [];
    await late.watch(first.revision - 1, (change) => fromPast.push(seen(change)));
    await resources.watch(first.revision, (change) => fromWindow.push(seen(change)));
    await resources.change(at('a'), () => ({ remove: true }));
    const revision = first.revision;
    const expected = [`modified a 2@${revision + 1}`, `deleted a 2@${revision + 2}`];
    assert.deepEqual(fromWindow, expected);
    assert.deepEqual(fromPast, [`added a 1@${revision}`, ...expected]);
    assert.equal(keyspace.revision, revision + 2);
  });

  it('waits for a version that has not happened', async () => {
    const { resources, keyspace } = await open();
    const future: string[] = [];
    await resources.watch(keyspace.revision + 1, (change) => future.push(seen(change)));
    await resources.create(at('a'), widget('a', 1));
    const second = await resources.create(at('b'), widget('b', 1));
    assert.deepEqual(future, [`added b 1@${second.revision}`]);
  });

  it('reads an older state', async () => {
    const { resources } = await open();
    await resources.create(at('a'), widget('a', 1));
    const then = (await resources.create(at('b'), widget('b', 1))).revision;
    await resources.change(at('a'), () => ({ remove: true }));
    await resources.create(at('c'), widget('c', 1));
    const past = await resources.entriesAt(then, { namespace: undefined });
    assert.deepEqual(
      past.entries.map((entry) => entry.name),
      ['a', 'b'],
    );
  });
});

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { settle, startTestServer, TestClock } from '@sheaf/testkit';
import { extend } from './register.ts';

async function withMachines(names: readonly string[], run: (client: Client) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const { client, close } = await startTestServer({ clock, extend });
  try {
    const definitions = kindDefinitions().filter(({ name }) => name === 'virtualmachines.kubevirt.io');
    for (const definition of customResourceDefinitions(definitions))
      await client.create(resources.customResourceDefinitions, definition);
    await client.create(resources.namespaces, { metadata: { name: 'red' } });
    const isServed = async (): Promise<boolean> =>
      client.list(resources.virtualMachines).then(
        () => true,
        () => false,
      );
    await settle({ clock, until: isServed });
    for (const name of names)
      await client.create(resources.virtualMachines, {
        metadata: { namespace: 'red', name },
        spec: { running: false, template: { spec: { domain: { devices: {} } } } },
      });
    await run(client);
  } finally {
    await close();
  }
}

const red = { name: 'red' };
const refusalOf = async (client: Client): Promise<string> => {
  const error: unknown = await client.delete(resources.namespaces, red).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(StatusError.is(error, 'Forbidden'), String(error));
  return error.message;
};

it('a namespace with machines is deleted only with consent, and says which and how', () =>
  withMachines(['g', 'b', 'c', 'd', 'e', 'f', 'a'], async (client) => {
    assert.match(
      await refusalOf(client),
      /Namespace red holds 7 virtual machines \(a, b, c, d, e and 2 more\).* `kubectl annotate namespace red sheaf\.dev\/confirm-deletion=red`/,
    );
    const confirm = (value: string): Promise<unknown> =>
      client.patch(resources.namespaces, red, {
        type: 'merge',
        body: { metadata: { annotations: { 'sheaf.dev/confirm-deletion': value } } },
      });
    await confirm('blue');
    await refusalOf(client);
    await confirm('red');
    await client.delete(resources.namespaces, red);
    await client.delete(resources.namespaces, red);
    assert.ok((await client.get(resources.namespaces, red)).metadata.deletionTimestamp);
  }));

it('one machine is named; one that is being deleted, or is elsewhere, needs no consent', () =>
  withMachines(['a'], async (client) => {
    assert.match(await refusalOf(client), /holds 1 virtual machine \(a\),/);
    await client.create(resources.namespaces, { metadata: { name: 'blue' } });
    await client.delete(resources.namespaces, { name: 'blue' });
    const place = { namespace: 'red', name: 'a' };
    const machine = await client.get(resources.virtualMachines, place);
    await client.update(resources.virtualMachines, {
      ...machine,
      metadata: { ...machine.metadata, finalizers: ['example.com/hold'] },
    });
    await client.delete(resources.virtualMachines, place);
    await client.delete(resources.namespaces, red);
    assert.ok((await client.get(resources.namespaces, red)).metadata.deletionTimestamp);
  }));

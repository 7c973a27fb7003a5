import assert from 'node:assert/strict';
import { it } from 'node:test';
import { silentLogger } from '@sheaf/base';
import { type Client, type InProcessUser, resources } from '@sheaf/client';
import { Manager } from '@sheaf/runtime';
import { SeededRandom, settle } from '@sheaf/testkit';
import { registerAccess } from './access-roles.ts';
import { type RequestWorld, withRequests } from './request-world.fixture.ts';

const namespace = 'default';
const group = '/apis/subresources.kubevirt.io/v1';

async function withRoles(run: (world: RequestWorld) => Promise<void>): Promise<void> {
  await withRequests(async (world) => {
    const { client, clock } = world;
    const manager = new Manager({ client, clock, random: new SeededRandom(4), logger: silentLogger });
    registerAccess(manager);
    void manager.start();
    try {
      const binding = { name: 'kubevirt.io:default' };
      await settle({
        clock,
        until: async () => (await client.find(resources.clusterRoleBindings, binding)) !== undefined,
      });
      await run(world);
    } finally {
      await manager.stop();
    }
  });
}

/** A user with a role in the namespace. */
async function userWith({ client, clientAs }: RequestWorld, role: string): Promise<Client> {
  const rbac = 'rbac.authorization.k8s.io';
  const user: InProcessUser = { name: role, groups: ['system:authenticated'] };
  await client.create(resources.roleBindings, {
    metadata: { namespace, name: role },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: `kubevirt.io:${role}` },
    subjects: [{ apiGroup: rbac, kind: 'User', name: role }],
  });
  return clientAs(user);
}

it('who may view sees machines, who may edit works with them, and everybody may ask for the version', async () => {
  await withRoles(async (world) => {
    await world.machine();
    const viewer = await userWith(world, 'view');
    const editor = await userWith(world, 'edit');
    const machine = `namespaces/${namespace}/virtualmachines/a`;
    const codeOf = async (client: Client, method: string, path: string): Promise<number> =>
      (await client.send({ method, target: `${group}/${path}` })).status;
    assert.equal(await codeOf(viewer, 'GET', `${machine}/expand-spec`), 200);
    assert.equal(await codeOf(viewer, 'PUT', `${machine}/start`), 403);
    assert.equal(await codeOf(editor, 'PUT', `${machine}/start`), 202);
    // The instance is not there: what is asked for is allowed.
    const log = `namespaces/${namespace}/virtualmachineinstances/a/console/log`;
    assert.deepEqual([await codeOf(viewer, 'GET', log), await codeOf(editor, 'GET', log)], [403, 404]);
    const stranger = world.clientAs({ name: 'eve', groups: ['system:authenticated'] });
    assert.equal(await codeOf(stranger, 'GET', 'version'), 200);
    assert.equal(await codeOf(stranger, 'GET', `${machine}/expand-spec`), 403);
  });
});

it('roles that someone has changed stay as they are', async () => {
  await withRoles(async ({ client, clock }) => {
    const name = 'kubevirt.io:view';
    const role = await client.get(resources.clusterRoles, { name });
    await client.update(resources.clusterRoles, { ...role, rules: [] });
    const manager = new Manager({ client, clock, random: new SeededRandom(5), logger: silentLogger });
    registerAccess(manager);
    await client.delete(resources.clusterRoles, { name: 'kubevirt.io:edit' });
    void manager.start();
    await settle({
      clock,
      until: async () =>
        (await client.find(resources.clusterRoles, { name: 'kubevirt.io:edit' })) !== undefined,
    });
    await manager.stop();
    assert.deepEqual((await client.get(resources.clusterRoles, { name }))['rules'], []);
  });
});

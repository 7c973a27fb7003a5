import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { type ResourceRef, resources } from '@sheaf/client';
import { parse } from 'yaml';
import { runProgram } from '../program.ts';
import { findVirtctl } from '../tools.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';

const virtctl = await findVirtctl();
const namespace = 'default';
const signal = new AbortController().signal;

function kindOf(kind: string, namespaced: boolean): ResourceRef {
  const plural = `${kind.toLowerCase()}s`;
  return { group: 'instancetype.kubevirt.io', version: 'v1beta1', plural, kind, namespaced };
}

describe('machines by instance types', { skip: 'missing' in virtctl ? virtctl.missing : false }, () => {
  let started: MachineServer | { readonly missing: string };
  before(async () => {
    started = await startMachineServer();
  });
  after(async () => {
    if (!('missing' in started)) await started.close();
  });

  const check = (name: string, run: (server: MachineServer) => Promise<void>): void => {
    it(name, async (context: TestContext) => {
      if ('missing' in started) context.skip(started.missing);
      else await run(started);
    });
  };
  /** What virtctl writes, as an object. */
  const written = async (...args: readonly string[]): Promise<KubeObject> => {
    assert.ok('path' in virtctl);
    const { code, out, err } = await runProgram(virtctl.path, ['create', ...args], { env: process.env });
    assert.equal(code, 0, err);
    return parse(out) as KubeObject;
  };
  const createMachine = async (
    { client }: MachineServer,
    ...args: readonly string[]
  ): Promise<KubeObject> => {
    const machine = await written('vm', ...args);
    return client.create(resources.virtualMachines, {
      ...machine,
      metadata: { ...machine.metadata, namespace },
    } as never);
  };
  const claim = async (
    { client }: MachineServer,
    name: string,
    labels: Record<string, string>,
  ): Promise<void> => {
    await client.create(resources.persistentVolumeClaims, {
      metadata: { namespace, name, labels },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '4Mi' } } },
    });
  };

  check('that virtctl writes wait for their type, and run with what it gives', async (server) => {
    const { client } = server;
    await claim(server, 'd1', {});
    const volume = '--volume-pvc=src:d1';
    await createMachine(server, '--name=typed', '--instancetype=small', '--preference=linux', volume);
    await server.until(async () => {
      const { status } = await client.get(resources.virtualMachines, { namespace, name: 'typed' });
      return status?.conditions?.some(({ reason }) => reason === 'FailedFindInstancetype') === true;
    }, 'it says that its type is missing');
    const type = await written('instancetype', '--name=small', '--cpu=2', '--memory=64Mi');
    await client.create(kindOf('VirtualMachineClusterInstancetype', false), type);
    const preference = await written('preference', '--name=linux', '--cpu-topology=cores');
    await client.create(kindOf('VirtualMachineClusterPreference', false), preference);
    await server.reaches('typed', 'Running');
    const instance = await client.get(resources.virtualMachineInstances, { namespace, name: 'typed' });
    const { cpu, memory } = instance.spec.domain;
    assert.deepEqual([cpu?.sockets, cpu?.cores, memory?.guest], [1, 2, '64Mi']);
    assert.equal(instance.metadata.annotations?.['kubevirt.io/cluster-instancetype-name'], 'small');
    const machine = await client.get(resources.virtualMachines, { namespace, name: 'typed' });
    assert.deepEqual(
      [machine.status?.instancetypeRef, machine.spec.template.spec?.domain],
      [
        { kind: 'VirtualMachineClusterInstancetype', name: 'small' },
        { devices: {}, resources: {} },
      ],
    );
    const path = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/virtualmachines/typed/expand-spec`;
    const { spec } = (await client.raw(path)) as unknown as typeof machine;
    assert.deepEqual([spec.instancetype, spec.template.spec?.domain.memory], [undefined, { guest: '64Mi' }]);
    await client.delete(resources.virtualMachines, { namespace, name: 'typed' });
    await server.until(
      async () =>
        (await client.find(resources.virtualMachineInstances, { namespace, name: 'typed' }, signal)) ===
        undefined,
      'it is gone',
    );
  });

  check('are named by what their volumes were labelled with', async (server) => {
    const { client } = server;
    const type = await written('instancetype', '--name=own', '--namespaced', '--cpu=1', '--memory=32Mi');
    await client.create(kindOf('VirtualMachineInstancetype', true), {
      ...type,
      metadata: { ...type.metadata, namespace },
    });
    await claim(server, 'd2', {
      'instancetype.kubevirt.io/default-instancetype': 'own',
      'instancetype.kubevirt.io/default-instancetype-kind': 'VirtualMachineInstancetype',
    });
    await createMachine(
      server,
      '--name=named',
      '--run-strategy=Halted',
      '--volume-import=type:pvc,src:default/d2,name:copy',
    );
    const { spec } = await client.get(resources.virtualMachines, { namespace, name: 'named' });
    assert.deepEqual(
      [spec.instancetype, spec.preference],
      [{ name: 'own', kind: 'VirtualMachineInstancetype' }, undefined],
    );
  });

  check("are refused in KubeVirt's words where machine and type disagree", async (server) => {
    const machine = await written('vm', '--name=odd', '--memory=1Gi');
    const spec = {
      ...(machine as unknown as { spec: object }).spec,
      instancetype: { name: 'own', kind: 'VirtualMachineInstancetype' },
    };
    await assert.rejects(
      server.client.create(resources.virtualMachines, {
        ...machine,
        metadata: { namespace, name: 'odd' },
        spec,
      } as never),
      /VM field\(s\) spec\.template\.spec\.domain\.memory\.guest conflicts with selected instance type/,
    );
  });
});

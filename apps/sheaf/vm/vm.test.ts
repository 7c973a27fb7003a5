import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import type { VirtualMachineImage } from '@sheaf/api/virtualization/index';
import type { Client } from '@sheaf/client';
import { parse } from 'yaml';
import { claimsOf, snapshotStep } from './change-commands.ts';
import type { ConnectedStream } from './connected-stream.ts';
import { findImage, imageStep, objectName } from './images.ts';
import { lastLines, matchingLines } from './log-lines.ts';
import type { MachineCall } from './machine-command.ts';
import { machineStep } from './machine-steps.ts';
import { asYaml, type MachineChoice, machineManifests } from './manifest.ts';
import { waitFor } from './progress.ts';
import { rowOf } from './show-commands.ts';
import { sshArguments } from './stream-commands.ts';
import { ageOf, tableText } from './table.ts';
import { attachTerminal } from './terminal.ts';

const plain: MachineChoice = {
  namespace: 'default',
  name: 'a',
  cpu: 2,
  memory: '2Gi',
  disks: ['10Gi', '5Gi'],
  networks: [],
  sshKeys: [],
  keyPairs: [],
  runStrategy: 'RerunOnFailure',
};

interface Written {
  readonly metadata: { readonly annotations: Readonly<Record<string, string>> };
  readonly spec: { readonly template: { readonly spec: Readonly<Record<string, unknown>> } };
}

function written(choice: Partial<MachineChoice>): Written {
  return machineManifests({ ...plain, ...choice }).at(-1) as unknown as Written;
}

/** What cloud-init gets. */
function seedOf(choice: Partial<MachineChoice>): unknown {
  const volumes = written(choice).spec.template.spec['volumes'] as readonly { cloudInitNoCloud?: unknown }[];
  return volumes.at(-1)?.cloudInitNoCloud;
}

describe('sheaf vm create', () => {
  it('writes a machine as its page would', () => {
    const image = { id: 'default/debian', storageClassName: 'lh-1', bytes: 3 * 2 ** 30 };
    const machine = written({ image });
    const claims = JSON.parse(
      machine.metadata.annotations['harvesterhci.io/volumeClaimTemplates'] ?? '',
    ) as unknown;
    assert.deepEqual(claims, [
      {
        metadata: { name: 'a-disk-0', annotations: { 'harvesterhci.io/imageId': 'default/debian' } },
        spec: {
          accessModes: ['ReadWriteMany'],
          volumeMode: 'Block',
          resources: { requests: { storage: '10Gi' } },
          storageClassName: 'lh-1',
        },
      },
      {
        metadata: { name: 'a-disk-1' },
        spec: {
          accessModes: ['ReadWriteMany'],
          volumeMode: 'Block',
          resources: { requests: { storage: '5Gi' } },
        },
      },
    ]);
    assert.deepEqual(machine.spec.template.spec['volumes'], [
      { name: 'disk-0', persistentVolumeClaim: { claimName: 'a-disk-0' } },
      { name: 'disk-1', persistentVolumeClaim: { claimName: 'a-disk-1' } },
    ]);
    assert.deepEqual(parse(asYaml([machine as unknown as KubeObject])), machine);
  });

  it('plugs it into networks of the host, if they are named', () => {
    assert.deepEqual(written({}).spec.template.spec['networks'], [{ name: 'default', pod: {} }]);
    assert.deepEqual(written({ networks: ['default/lan'] }).spec.template.spec['networks'], [
      { name: 'nic-0', multus: { networkName: 'default/lan' } },
    ]);
  });

  it('gives keys to cloud-init, with what the user has for it', () => {
    assert.deepEqual(seedOf({}), undefined);
    const key = 'ssh-ed25519 AAAA me';
    assert.deepEqual(seedOf({ sshKeys: [key] }), {
      userData: `#cloud-config\nssh_authorized_keys:\n  - ${key}\n`,
    });
    const userData = '#cloud-config\npackages: [vim]\nssh_authorized_keys: [other]\n';
    const { userData: merged } = seedOf({ sshKeys: [key], userData }) as { userData: string };
    assert.deepEqual(parse(merged), { packages: ['vim'], ssh_authorized_keys: ['other', key] });
    assert.deepEqual(seedOf({ userData: '#!/bin/sh\n' }), { userData: '#!/bin/sh\n' });
    assert.throws(() => seedOf({ sshKeys: [key], userData: '#!/bin/sh\n' }), /make it a #cloud-config/);
    assert.throws(() => seedOf({ sshKeys: [key], userData: '#cloud-config\n- a\n' }), /Put the keys into/);
  });

  it('puts what is long into a Secret', () => {
    const [secret, machine] = machineManifests({ ...plain, userData: `#!/bin/sh\n${'#'.repeat(4000)}\n` });
    assert.equal(secret?.kind, 'Secret');
    assert.match(JSON.stringify(machine), /"cloudInitNoCloud":\{"secretRef":\{"name":"a-cloud-init"\}\}/);
  });
});

describe('waiting', () => {
  it('shows each step once and ends with the outcome', async () => {
    const shown: string[] = [];
    const steps = [{ line: 'a' }, { line: 'a' }, { line: 'b', outcome: 'done' as const }];
    const step = await waitFor(() => Promise.resolve(steps.shift() ?? { line: 'never' }), {
      timeoutSeconds: 60,
      wayOut: '',
      everyMs: 0,
      show: (line) => shown.push(line),
    });
    assert.deepEqual([step.outcome, shown], ['done', ['a', 'b']]);
  });

  it('gives up with a way out', async () => {
    const options = { timeoutSeconds: 0, wayOut: 'Do this.', everyMs: 0, show: () => undefined };
    await assert.rejects(
      waitFor(() => Promise.resolve({ line: 'a' }), options),
      /it has taken more than 0 s \(a\)\. Do this\./,
    );
  });

  it('knows how far a machine is', () => {
    const machine = (printableStatus: string, message = ''): KubeObject => ({
      metadata: { name: 'a' },
      status: { printableStatus, conditions: [{ type: 'Ready', status: 'False', message }] },
    });
    assert.deepEqual(machineStep(undefined, 'Running'), { line: 'it is gone', outcome: 'failed' });
    assert.deepEqual(machineStep({ metadata: { name: 'a' } }, 'Running'), { line: 'a: is new' });
    assert.deepEqual(machineStep(machine('Starting', 'it waits'), 'Running'), {
      line: 'a: Starting: it waits',
    });
    assert.deepEqual(machineStep(machine('Running'), 'Running'), { line: 'a: Running', outcome: 'done' });
    assert.equal(machineStep(machine('CrashLoopBackOff'), 'Running').outcome, 'failed');
    assert.equal(machineStep(machine('CrashLoopBackOff'), 'Stopped').outcome, undefined);
  });

  it('knows how far an image is', () => {
    const image = (sourceType: 'download' | 'upload', type: string, status: string): VirtualMachineImage => ({
      metadata: { name: 'i' },
      spec: { displayName: 'i', sourceType },
      status: { progress: 100, conditions: [{ type, status, message: 'no disk' }] },
    });
    const shown = (...given: Parameters<typeof image>): unknown => imageStep('i', image(...given));
    assert.deepEqual(shown('download', 'Imported', 'True'), { line: 'image i: 100 %', outcome: 'done' });
    assert.deepEqual(shown('download', 'Imported', 'Unknown'), { line: 'image i: 99 %' });
    assert.deepEqual(shown('download', 'Imported', 'False'), { line: 'image i: 99 %, no disk' });
    assert.deepEqual(shown('upload', 'Imported', 'False'), { line: 'image i: no disk', outcome: 'failed' });
    assert.deepEqual(shown('download', 'RetryLimitExceeded', 'True'), {
      line: 'image i: no disk',
      outcome: 'failed',
    });
    assert.equal(objectName('Debian 13.QCOW2', 'x'), objectName('debian-13-qcow2', 'x'));
    assert.notEqual(objectName('a', 'x'), objectName('a', 'y'));
  });

  it('looks for an image only by what can be a name', async () => {
    const client = {
      find: () => assert.fail('it asks'),
      list: () => assert.fail('it asks'),
    } as unknown as Client;
    for (const word of ['http://127.0.0.1/disk.qcow2', 'a/b/c', '/a', 'a/'])
      assert.equal(await findImage(client, 'red', word), undefined);
  });

  it('knows how far a snapshot is', () => {
    const backup = (status: object): KubeObject => ({ metadata: { name: 's' }, status });
    assert.deepEqual(snapshotStep(backup({ progress: 40 })), { line: 's: 40 %' });
    const conditions = [{ type: 'InProgress', status: 'True', reason: 'MemoryBeingKept', message: '70 %' }];
    assert.deepEqual(snapshotStep(backup({ progress: 0, conditions })), { line: 's: 70 %' });
    assert.equal(snapshotStep(backup({ readyToUse: true })).outcome, 'done');
    assert.deepEqual(snapshotStep(backup({ error: { message: 'full' } })), {
      line: 's: full',
      outcome: 'failed',
    });
  });
});

describe('what is shown', () => {
  it('is a line for each machine', () => {
    const machine = {
      metadata: { namespace: 'n', name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { template: { spec: { domain: { cpu: { sockets: 2, cores: 3 }, memory: { guest: '1Gi' } } } } },
      status: { printableStatus: 'Running' },
    };
    const instance = {
      metadata: { namespace: 'n', name: 'a' },
      status: { nodeName: 'node-1', interfaces: [{ name: 'x' }, { ipAddress: '10.0.0.1' }] },
    };
    const now = Date.parse('2026-01-01T05:00:00Z');
    assert.deepEqual(rowOf(machine, instance, now), [
      'n',
      'a',
      'Running',
      '6',
      '1Gi',
      '10.0.0.1',
      'node-1',
      '5h',
    ]);
    assert.deepEqual(rowOf({ metadata: {} }, undefined, now).slice(2), ['Unknown', '1', '-', '-', '-', '-']);
    assert.equal(ageOf('2026-01-01T04:59:59Z', now), '1s');
    assert.equal(tableText(['A', 'B'], [['long', 'x']]), 'A     B\nlong  x\n');
  });

  it('is the log, line by line', async () => {
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (const text of ['one\r\nt', 'wo\n\nthr', 'ee']) yield new TextEncoder().encode(text);
    }
    const all = (pattern?: RegExp): Promise<string[]> => Array.fromAsync(matchingLines(chunks(), pattern));
    assert.deepEqual(await all(), ['one', 'two', '', 'three']);
    assert.deepEqual(await all(/^t/), ['two', 'three']);
    assert.deepEqual(await Array.fromAsync(lastLines(matchingLines(chunks(), undefined), 2)), ['', 'three']);
  });

  it('names the disks that stay', () => {
    const volumes = [
      { name: 'root', persistentVolumeClaim: { claimName: 'c' } },
      { name: 'seed', cloudInitNoCloud: {} },
    ];
    const machine = { metadata: {}, spec: { template: { spec: { volumes } } } };
    assert.deepEqual(claimsOf(machine), [{ disk: 'root', claim: 'c' }]);
  });
});

describe('a terminal', () => {
  function streamOf(shown: readonly string[]): ConnectedStream & { readonly typed: string[] } {
    const over = Promise.withResolvers<void>();
    const typed: string[] = [];
    return {
      typed,
      readable: (async function* () {
        for (const text of shown) yield new TextEncoder().encode(text);
        await over.promise;
      })(),
      write: (bytes) => {
        typed.push(new TextDecoder().decode(bytes));
        return Promise.resolve();
      },
      dispose: () => over.resolve(),
    };
  }

  it('is raw until the escape key, which is not sent', async () => {
    const stream = streamOf(['hello']);
    const modes: boolean[] = [];
    const shown: string[] = [];
    await attachTerminal(
      stream,
      {
        isTTY: true,
        setRawMode: (isRaw) => modes.push(isRaw),
        destroy: () => undefined,
        async *[Symbol.asyncIterator]() {
          yield Buffer.from('ls\r');
          yield Buffer.from('x\u001dy');
        },
      },
      { write: (bytes) => shown.push(new TextDecoder().decode(bytes)) },
    );
    assert.deepEqual([stream.typed, modes, shown], [['ls\r', 'x'], [true, false], ['hello']]);
  });
});

it('ssh goes over another sheaf, and each machine has its own host key', () => {
  const call = {
    namespace: 'default',
    given: ['a'],
    flags: { user: 'debian' },
    further: ['uptime'],
    connection: ['--kubeconfig', "/it's/50%"],
  } as unknown as MachineCall;
  assert.deepEqual(sshArguments(call, '/node', '/main.ts'), [
    '-o',
    `ProxyCommand='/node' '/main.ts' 'vm' 'port-forward' 'a' '22' '-n' 'default' '--kubeconfig' '/it'\\''s/50%%'`,
    '-o',
    'HostKeyAlias=a.default.vm',
    '-o',
    'StrictHostKeyChecking=accept-new',
    'debian@a.default.vm',
    'uptime',
  ]);
});

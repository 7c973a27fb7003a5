import assert from 'node:assert/strict';
import type { ContainersScene } from './containers-scene.fixture.ts';

export async function tellsCapabilities(scene: ContainersScene): Promise<void> {
  const before = scene.containers.capabilities();
  assert.equal(before.containers.isAvailable, false);
  assert.ok(before.containers.wayOut);
  const after = await scene.containers.probe(scene.signal);
  assert.equal(after.containers.isAvailable, true);
  assert.deepEqual(scene.containers.capabilities(), after);
  for (const capability of [after.containers, after.podNetwork, after.limits, after.seccomp])
    if (!capability.isAvailable) assert.ok(capability.wayOut, capability.reason);
  assert.equal(after.podSubnet !== undefined, after.podNetwork.isAvailable);
  assert.ok(after.engine);
}

export async function startsSandboxOnce(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  const first = await scene.sandbox();
  assert.equal(first.title, 'default/pod');
  assert.deepEqual(first.labels, { app: 'test', 'example.org/pod': 'pod' });
  assert.equal(first.addresses.length, scene.has('namespaces') ? 1 : 0);
  assert.deepEqual(await containers.startSandbox(scene.sandboxSpec('pod'), signal), first);
  const second = await scene.sandbox('other');
  if (scene.has('namespaces')) assert.notDeepEqual(second.addresses, first.addresses);
  assert.deepEqual(await containers.listSandboxes(signal), [second, first]);
  assert.deepEqual(await containers.findSandbox('pod', signal), first);
  assert.equal(await containers.findSandbox('none', signal), undefined);
}

export async function endsSandbox(scene: ContainersScene): Promise<void> {
  const { containers, signal } = scene;
  const { addresses } = await scene.sandbox();
  await scene.start('one', ['stay']);
  await scene.refuses(containers.removeSandbox('pod', signal), 'Conflict', /end it/);
  for (let time = 0; time < 2; time++) await containers.endSandbox('pod', signal);
  const ended = await scene.findSandbox();
  assert.deepEqual({ state: ended.state, addresses: ended.addresses }, { state: 'ended', addresses: [] });
  assert.deepEqual((await scene.find('one')).end, { cause: 'exited', exitCode: 137 });
  assert.equal((await containers.startSandbox(scene.sandboxSpec('pod'), signal)).state, 'ended');
  const late = scene.containers.startContainer(await scene.spec('late', ['stay']), signal);
  await scene.refuses(late, 'Conflict', /has ended/);
  assert.equal(await containers.findContainer('late', signal), undefined);
  assert.equal((await scene.findSandbox()).state, 'ended');
  assert.equal(addresses.length > 0, scene.has('namespaces'));
  await scene.refuses(containers.endSandbox('none', signal), 'NotFound', /no sandbox none/);
}

export async function leavesNoTrace(scene: ContainersScene): Promise<void> {
  const { containers, signal, world } = scene;
  const before = await world.traces();
  const shared = await world.makeDirectory('shared');
  await world.writeFile(`${shared}/part`, 'text');
  await scene.sandbox();
  const mounts = [{ hostPath: shared, subPath: 'part', containerPath: '/part' }];
  await scene.start('runs', ['stay'], { mounts });
  await scene.output('ended', ['print done'], { mounts });
  await containers.removeContainer('ended', signal);
  await containers.removeContainer('ended', signal);
  await scene.refuses(containers.removeContainer('runs', signal), 'Conflict', /stop it/);
  assert.notDeepEqual(await world.traces(), before);
  await containers.endSandbox('pod', signal);
  for (let time = 0; time < 2; time++) await containers.removeSandbox('pod', signal);
  assert.deepEqual(await world.traces(), before);
  assert.deepEqual(await containers.listSandboxes(signal), []);
  assert.deepEqual(await containers.listContainers(signal), []);
  assert.equal(await world.readFile(`${shared}/part`), 'text');
}

export async function runsOnHostNetwork(scene: ContainersScene): Promise<void> {
  const { addresses } = await scene.sandbox('pod', { network: { kind: 'host' } });
  assert.deepEqual(addresses, []);
  assert.equal(await scene.output('one', ['print here']), 'here\n');
}

export async function sharesWithinSandbox(scene: ContainersScene): Promise<void> {
  await scene.sandbox('pod', { processes: 'sandbox', hostname: 'shared-name' });
  await scene.start('server', ['stay']);
  assert.equal(await scene.output('host', ['host']), 'shared-name\n');
  // Its own, that of the server, and the one that holds the namespaces.
  assert.ok(Number(await scene.output('count', ['processes'])) >= 3);
  await scene.sandbox('apart');
  assert.equal(await scene.output('alone', ['processes'], { sandboxId: 'apart' }), '1\n');
  await scene.start('looked-at', ['stay'], { sandboxId: 'apart' });
  const beside = { sandboxId: 'apart', processesOf: 'looked-at' };
  assert.ok(Number(await scene.output('looks', ['processes'], beside)) >= 2);
  await scene.start('beside', ['stay'], beside);
  await scene.outcome(scene.containers.stopContainer('looked-at', { graceMs: 0 }, scene.signal));
  assert.deepEqual(await scene.endOf('beside'), { cause: 'exited', exitCode: 137 });
  await scene.refuses(scene.start('late', ['stay'], beside), 'Conflict', /looked-at does not run/);
}

export async function writesNameFiles(scene: ContainersScene): Promise<void> {
  const [address = ''] = (
    await scene.sandbox('pod', {
      hostname: 'named',
      domain: 'db.default.svc.cluster.local',
      dns: { servers: ['192.0.2.53'], searches: ['default.svc.cluster.local'], options: ['ndots:5'] },
      hosts: [{ address: '192.0.2.7', names: ['seven.example', 'also.example'] }],
    })
  ).addresses;
  const resolver = await scene.output('resolver', ['show /etc/resolv.conf']);
  assert.match(resolver, /^search default\.svc\.cluster\.local$/m);
  assert.match(resolver, /^nameserver 192\.0\.2\.53$/m);
  assert.match(resolver, /^options ndots:5$/m);
  assert.equal(resolver.match(/^nameserver/gm)?.length, 1);
  const hosts = await scene.output('hosts', ['show /etc/hosts']);
  assert.deepEqual(
    hosts.split('\n').map((line) => line.split(/\s+/)),
    [
      ['127.0.0.1', 'localhost'],
      ['::1', 'localhost', 'ip6-localhost', 'ip6-loopback'],
      [address, 'named.db.default.svc.cluster.local', 'named'],
      ['192.0.2.7', 'seven.example', 'also.example'],
      [''],
    ],
  );
  // What one container writes there is for all of them; one may have a file of its own.
  await scene.output('writer', ['append /etc/hosts 192.0.2.8 eight.example']);
  assert.match(await scene.output('reader', ['show /etc/hosts']), /^192\.0\.2\.8 eight\.example$/m);
  const directory = await scene.world.makeDirectory('names');
  await scene.world.writeFile(`${directory}/hosts`, 'of its own\n');
  const mounts = [{ hostPath: `${directory}/hosts`, containerPath: '/etc/hosts' }];
  assert.equal(await scene.output('own', ['show /etc/hosts'], { mounts }), 'of its own\n');
}

export async function writesNameFilesOnHostNetwork(scene: ContainersScene): Promise<void> {
  await scene.sandbox('pod', {
    network: { kind: 'host' },
    dns: { servers: ['192.0.2.53'], searches: [], options: [] },
    hosts: [{ address: '192.0.2.7', names: ['seven.example'] }],
  });
  assert.equal(await scene.output('resolver', ['show /etc/resolv.conf']), 'nameserver 192.0.2.53\n');
  assert.match(
    await scene.output('hosts', ['show /etc/hosts']),
    /localhost[^]*\n192\.0\.2\.7\tseven\.example\n$/,
  );
}

export async function announcesChanges(scene: ContainersScene): Promise<void> {
  const seen: string[] = [];
  const listening = scene.containers.onChange((id) => seen.push(id));
  await scene.sandbox();
  await scene.until(() => seen.includes('pod'));
  const { processId = 0 } = await scene.start('one', ['stay']);
  await scene.world.pass(100);
  seen.length = 0;
  await scene.world.kill(processId);
  await scene.until(() => seen.includes('pod'));
  await scene.endOf('one');
  listening.dispose();
  await scene.world.pass(100);
  seen.length = 0;
  await scene.output('two', ['print two']);
  await scene.world.pass(100);
  assert.deepEqual(seen, []);
}

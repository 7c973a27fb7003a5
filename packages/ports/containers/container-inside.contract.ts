import assert from 'node:assert/strict';
import type { ContainersScene } from './containers-scene.fixture.ts';

export async function givesEnvironment(scene: ContainersScene): Promise<void> {
  await scene.sandbox();
  const steps = ['variable GREETING', 'directory', 'variable HTTP_PROXY'];
  const environment = { GREETING: 'hello, "world" $HOME' };
  for (const [name, workingDirectory] of Object.entries({ one: '/etc', made: '/made/for/it' }))
    assert.equal(
      await scene.output(name, steps, { environment, workingDirectory }),
      `hello, "world" $HOME\n${workingDirectory}\n\n`,
    );
  // An entry point drops the image's arguments.
  assert.equal(await scene.output('two', [], { entryPoint: ['/guest', 'print own'] }), 'own\n');
}

export async function mountsDirectories(scene: ContainersScene): Promise<void> {
  const { world } = scene;
  const directory = await world.makeDirectory('data');
  await world.writeFile(`${directory}/file`, 'from the host\n');
  await scene.sandbox();
  const both = [
    { hostPath: directory, containerPath: '/data' },
    { hostPath: directory, containerPath: '/fixed', isReadOnly: true },
    { hostPath: `${directory}/file`, containerPath: '/single' },
  ];
  const steps = ['show /single', 'append /data/file more', 'append /fixed/file less', 'show /fixed/file'];
  assert.equal(
    await scene.output('one', steps, { mounts: both }),
    'from the host\nrefused\nfrom the host\nmore\n',
  );
  assert.equal(await world.readFile(`${directory}/file`), 'from the host\nmore\n');
}

export async function mountsSubPaths(scene: ContainersScene): Promise<void> {
  const { world } = scene;
  const directory = await world.makeDirectory('volume');
  const outside = await world.makeDirectory('outside');
  await world.writeFile(`${outside}/secret`, 'secret\n');
  await world.writeFile(`${directory}/part`, 'part\n');
  await world.makeLink(`${directory}/inside`, 'part');
  await world.makeLink(`${directory}/escape`, outside);
  await scene.sandbox();
  const mounts = (
    subPath: string,
  ): { readonly mounts: NonNullable<Parameters<ContainersScene['spec']>[2]>['mounts'] & {} } => ({
    mounts: [{ hostPath: directory, subPath, containerPath: '/mounted' }],
  });
  assert.equal(await scene.output('plain', ['show /mounted'], mounts('part')), 'part\n');
  assert.equal(await scene.output('linked', ['show /mounted'], mounts('inside')), 'part\n');
  for (const subPath of ['escape', 'escape/secret', 'escape/new/place', '../outside/secret', '/etc'])
    await scene.refuses(scene.start('bad', ['stay'], mounts(subPath)), 'BadRequest', /leads out/);
  assert.equal(await scene.containers.findContainer('bad', scene.signal), undefined);
  assert.equal(await scene.output('makes', ['append /mounted/file first'], mounts('made/deep')), '');
  assert.equal(await world.readFile(`${directory}/made/deep/file`), 'first\n');
}

export async function limitsRights(scene: ContainersScene): Promise<void> {
  await scene.sandbox();
  assert.match(await scene.output('root', ['user']), /^0 0\b/);
  const security = { user: '1234:2345', supplementalGroups: [3456] };
  assert.equal(await scene.output('other', ['user'], { security }), '1234 2345 2345 3456\n');
  // Any port of a pod is for everybody in it.
  assert.equal(await scene.output('server', ['listen 80', 'print asked'], { security }), 'asked\n');
  assert.equal(await scene.output('wrote', ['append /new-file text', 'show /new-file']), 'text\n');
  const readOnly = { security: { hasReadOnlyRoot: true } };
  assert.equal(await scene.output('fixed', ['append /new-file text'], readOnly), 'refused\n');
}

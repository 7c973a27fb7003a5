import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';
import { StatusError } from '@sheaf/base';
import { tellingHolder, withHolder } from './lock-refusal.ts';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';
import { QmpError } from './qmp-client.ts';

const words = 'Failed to get shared "write" lock';

describe('a file that another process has open', { skip: qemuIsMissing ?? false }, () => {
  it('is told with the program that has it, and what to do', async () => {
    const world = await QemuWorld.make();
    const { path } = await world.makeDisk('root');
    const child = spawn('qemu-io', ['-f', 'qcow2', path], { stdio: ['pipe', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      const refused = tellingHolder(path, () =>
        Promise.reject(new QmpError('blockdev-add', { class: 'GenericError', desc: words })),
      );
      await assert.rejects(refused, (error) => {
        assert.ok(StatusError.is(error, 'Conflict'));
        assert.ok(
          error.message.startsWith(`${path} is in use by qemu-io (process ${child.pid}): wait until`),
        );
        return true;
      });
      const said = `qemu: ${words}\nIs another process using the image [${path}]?`;
      assert.match(withHolder(said, ['/another']), /^\S+root\.qcow2 is in use by qemu-io .*\nqemu: Failed/s);
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await world.dispose();
    }
    await assert.rejects(
      tellingHolder(path, () => Promise.reject(new QmpError('device_add', { desc: words }))),
      /has let go of it since: try again/,
    );
    assert.equal(withHolder('no such file', [path]), 'no such file');
  });
});

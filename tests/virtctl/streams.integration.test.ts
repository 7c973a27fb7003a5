import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { kubeconfigText } from '@sheaf/apiserver/certificates/kubeconfig';
import {
  type ExtensionServer,
  startExtensionServer,
} from '@sheaf/apiserver/extension/extension-server.fixture';
import { testCertificates } from '@sheaf/testkit';
import { type ProgramResult, runProgram } from '../program.ts';
import { findVirtctl } from '../tools.ts';

const virtctl = await findVirtctl();

describe('virtctl and an extension group', { skip: 'missing' in virtctl ? virtctl.missing : false }, () => {
  let server: ExtensionServer;
  let directory: string;
  before(async () => {
    server = await startExtensionServer();
    directory = await mkdtemp(join(tmpdir(), 'sheaf-virtctl-'));
    const { admin, authority } = await testCertificates();
    const text = kubeconfigText({
      server: server.url,
      authorityPem: authority.certificatePem,
      credentials: { certificatePem: admin.certificatePem, privateKeyPem: admin.privateKeyPem },
    });
    await writeFile(join(directory, 'kubeconfig'), text, { mode: 0o600 });
  });
  after(async () => {
    await rm(directory, { recursive: true, force: true });
    await server.close();
  });

  const run = (args: readonly string[], input = ''): Promise<ProgramResult> => {
    assert.ok('path' in virtctl);
    const env = { KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory };
    return runProgram(virtctl.path, args, { env, input });
  };

  it('starts a machine, and tells why it cannot', async () => {
    assert.equal((await run(['start', 'vm1'])).out, 'VM vm1 was scheduled to start\n');
    const gone = await run(['start', 'gone']);
    assert.equal(gone.code, 1);
    assert.match(gone.err, /virtualmachine\.kubevirt\.io "gone" not found/);
  });

  it('fetches a screenshot', async () => {
    const path = join(directory, 'screen.png');
    await run(['vnc', 'screenshot', 'vm1', '-f', path]);
    assert.equal(await readFile(path, 'utf8'), 'PNG');
  });

  it('carries bytes to a port and back until the other side ends', async () => {
    assert.ok('path' in virtctl);
    const child = spawn(virtctl.path, ['port-forward', '--stdio=true', 'vmi/vm1', '22'], {
      env: { ...process.env, KUBECONFIG: join(directory, 'kubeconfig'), HOME: directory },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    // Its input stays open: virtctl goes when that ends, without waiting for an answer.
    child.stdin.write('exit');
    assert.equal((await Array.fromAsync(child.stdout)).join(''), '22 tcpexit');
    child.stdin.destroy();
    if (child.exitCode === null) await once(child, 'exit');
    assert.equal(child.exitCode, 0);
  });
});

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import type { ClientRequest } from 'node:http';
import { request } from 'node:https';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import type { DataVolume, PersistentVolumeClaim } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { testCertificates } from '@sheaf/testkit';
import { type ProgramResult, runProgram } from '../program.ts';
import { findVirtctl } from '../tools.ts';
import { type MachineServer, startMachineServer } from './machine-server.ts';

const virtctl = await findVirtctl();
const namespace = 'default';
const mebibyte = 1024 ** 2;

/** Sends bytes of which more were announced: the status, or nothing when it broke off. */
async function post(
  { url }: MachineServer,
  token: string,
  bytes: Uint8Array,
  announced: number,
): Promise<number | undefined> {
  const { authority } = await testCertificates();
  const headers = { authorization: `Bearer ${token}`, 'content-length': announced };
  const sent = request(`${url}/v1beta1/upload`, { method: 'POST', ca: authority.certificatePem, headers });
  return new Promise((resolve) => {
    sent.on('error', () => resolve(undefined));
    sent.on('response', (answer) => {
      answer.resume();
      resolve(answer.statusCode);
      sent.destroy();
    });
    sent.write(bytes, () => {
      if (bytes.length === announced) sent.end();
      else if (announced === 2 * bytes.length) sent.destroy();
    });
  });
}

/** An upload that is sent piece by piece. */
class Sending {
  readonly #request: Promise<ClientRequest>;
  readonly #answer = Promise.withResolvers<number | undefined>();

  constructor({ url }: MachineServer, token: string, announced: number) {
    const headers = { authorization: `Bearer ${token}`, 'content-length': announced };
    this.#request = testCertificates().then(({ authority }) => {
      const ca = authority.certificatePem;
      const sent = request(`${url}/v1beta1/upload`, { method: 'POST', ca, headers });
      sent.on('error', (error) => this.#answer.reject(error));
      sent.on('response', (answer) => this.#answer.resolve(answer.resume().statusCode));
      return sent;
    });
  }

  write(bytes: Uint8Array): void {
    void this.#request.then((sent) => sent.write(bytes));
  }

  async answered(): Promise<number | undefined> {
    (await this.#request).end();
    return await this.#answer.promise;
  }
}

async function tokenFor({ client }: MachineServer, pvcName: string): Promise<string> {
  const path = '/apis/upload.cdi.kubevirt.io/v1beta1/namespaces/default/uploadtokenrequests';
  const answer = await client.raw(path, { method: 'POST', body: JSON.stringify({ spec: { pvcName } }) });
  return (answer['status'] as { readonly token: string }).token;
}

describe('virtctl image-upload', { skip: 'missing' in virtctl ? virtctl.missing : false }, () => {
  let started: MachineServer | { readonly missing: string };
  before(async () => {
    started = await startMachineServer();
    if ('missing' in started) return;
    const disk = Buffer.concat([randomBytes(mebibyte), Buffer.alloc(mebibyte)]);
    await writeFile(join(started.directory, 'disk.raw'), disk);
    await writeFile(join(started.directory, 'page.html'), '<html>');
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
  const upload = (server: MachineServer, ...args: readonly string[]): Promise<ProgramResult> => {
    assert.ok('path' in virtctl);
    const env = { ...process.env, KUBECONFIG: server.kubeconfig, HOME: server.directory };
    return runProgram(virtctl.path, ['image-upload', ...args], { env, cwd: server.directory });
  };
  const disk = ['--image-path=disk.raw', '--insecure'] as const;
  const readClaim = (server: MachineServer, name: string): Promise<PersistentVolumeClaim> =>
    server.client.get(resources.persistentVolumeClaims, { namespace, name });
  const readVolume = (server: MachineServer, name: string): Promise<DataVolume> =>
    server.client.get(resources.dataVolumes, { namespace, name });

  check('fills a new data volume, and refuses to fill it twice', async (server) => {
    const sent = await upload(
      server,
      ...['dv', 'd1', '--size=8Mi', ...disk, '--volume-mode=block', '--storage-class=harvester-longhorn'],
      ...['--default-instancetype=u1.small', '--default-preference=linux', '--datasource', '--force-bind'],
    );
    assert.equal(sent.code, 0, sent.err);
    assert.match(sent.out, /Uploading disk\.raw completed successfully/);
    const { metadata, status } = await readVolume(server, 'd1');
    assert.equal(status?.phase, 'Succeeded');
    assert.equal(metadata.labels?.['instancetype.kubevirt.io/default-instancetype'], 'u1.small');
    const claim = await readClaim(server, 'd1');
    assert.deepEqual(
      [
        claim.status?.phase,
        claim.spec.volumeMode,
        claim.metadata.labels?.['instancetype.kubevirt.io/default-preference'],
      ],
      ['Bound', 'Block', 'linux'],
    );
    await server.client.get(resources.dataSources, { namespace, name: 'd1' });
    const again = await upload(server, 'dv', 'd1', '--size=8Mi', ...disk);
    assert.deepEqual([again.code, /already successfully/.test(again.err)], [1, true], again.err);
  });

  check('fills a new claim, at an address that is given', async (server) => {
    const place = [`--uploadproxy-url=${server.url}`, '--access-mode=ReadWriteOnce'];
    const sent = await upload(server, 'pvc', 'p1', '--size=8Mi', ...disk, ...place);
    assert.equal(sent.code, 0, sent.err);
    const { status, metadata, spec } = await readClaim(server, 'p1');
    assert.deepEqual([status?.phase, spec.volumeMode], ['Bound', 'Filesystem']);
    assert.ok(!metadata.finalizers?.includes('sheaf.dev/claim-upload'));
  });

  check('tells what is wrong with an image, and takes another one for the same volume', async (server) => {
    await server.client.create(resources.dataVolumes, {
      metadata: { namespace, name: 'd2' },
      spec: {
        source: { upload: {} },
        storage: { resources: { requests: { storage: '1Mi' } }, storageClassName: 'harvester-longhorn' },
      },
    });
    const claims = resources.persistentVolumeClaims;
    const hasClaim = async (): Promise<boolean> =>
      (await server.client.find(claims, { namespace, name: 'd2' })) !== undefined;
    await server.until(hasClaim, 'the data volume has its claim');
    const large = await upload(server, 'dv', 'd2', '--no-create', ...disk, '--retry=1');
    assert.equal(large.code, 1);
    assert.match(large.err, /400, the image is no good: its disk has 2097152 bytes, more than the 1048576/);
    const page = await upload(server, 'dv', 'd2', '--image-path=page.html', '--insecure', '--retry=1');
    assert.match(page.err, /it is no disk: neither qcow2 nor ISO/);
    assert.equal((await readVolume(server, 'd2')).status?.phase, 'UploadReady');
    await writeFile(join(server.directory, 'small.raw'), randomBytes(mebibyte));
    const good = await upload(server, 'dv', 'd2', '--no-create', '--image-path=small.raw', '--insecure');
    assert.equal(good.code, 0, good.err);
    assert.equal((await readVolume(server, 'd2')).status?.phase, 'Succeeded');
  });

  check('tells how much has come while it is sent', async (server) => {
    await server.client.create(resources.dataVolumes, {
      metadata: { namespace, name: 'd3' },
      spec: {
        source: { upload: {} },
        storage: { resources: { requests: { storage: '4Mi' } }, storageClassName: 'harvester-longhorn' },
      },
    });
    const progressOf = async (): Promise<string | undefined> =>
      (await readVolume(server, 'd3')).status?.progress;
    const isReady = async (): Promise<boolean> =>
      (await readVolume(server, 'd3')).status?.phase === 'UploadReady';
    await server.until(isReady, 'the data volume takes uploads');
    assert.equal(await progressOf(), 'N/A');
    const sending = new Sending(server, await tokenFor(server, 'd3'), 4 * mebibyte);
    sending.write(randomBytes(mebibyte));
    await server.until(async () => (await progressOf()) === '25.00%', 'a quarter has come');
    sending.write(randomBytes(2 * mebibyte));
    await server.until(async () => (await progressOf()) === '75.00%', 'three quarters have come');
    sending.write(randomBytes(mebibyte));
    assert.equal(await sending.answered(), 200);
    await server.until(async () => (await progressOf()) === '100.0%', 'it has its content');
    await server.until(
      async () => (await readVolume(server, 'd3')).status?.phase === 'Succeeded',
      'the data volume is there',
    );
  });

  check('takes an upload again that broke off, and looks at its token', async (server) => {
    await assert.rejects(tokenFor(server, 'nothing'), { code: 404 });
    await server.client.create(resources.persistentVolumeClaims, {
      metadata: { namespace, name: 'p2', annotations: { 'cdi.kubevirt.io/storage.upload.target': '' } },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '8Mi' } } },
    });
    const token = await tokenFor(server, 'p2');
    assert.equal(await post(server, 'wrong', randomBytes(512), 512), 401);
    assert.equal(await post(server, token, randomBytes(512), 80 * mebibyte), 413);
    assert.equal(await post(server, token, randomBytes(mebibyte), 2 * mebibyte), undefined);
    assert.equal((await readClaim(server, 'p2')).status?.phase, 'Pending');
    assert.equal(await post(server, token, randomBytes(mebibyte), mebibyte), 200);
    await server.until(
      async () => (await readClaim(server, 'p2')).status?.phase === 'Bound',
      'the claim is bound',
    );
    assert.equal(await post(server, token, randomBytes(mebibyte), mebibyte), 409);
    await server.client.delete(resources.persistentVolumeClaims, { namespace, name: 'p2' });
    await server.until(
      async () =>
        (await server.client.find(resources.persistentVolumeClaims, { namespace, name: 'p2' })) === undefined,
      'the claim is gone',
    );
    assert.equal(await post(server, token, randomBytes(mebibyte), mebibyte), 404);
  });

  check('refuses archives and claims that have their volume', async (server) => {
    const archive = ['--archive-path=disk.raw', '--insecure', '--size=8Mi'];
    assert.match((await upload(server, 'dv', 'a', ...archive)).err, /archives are not unpacked/);
    assert.match((await upload(server, 'pvc', 'a', ...archive)).err, /archives are not unpacked/);
    await server.client.create(resources.persistentVolumeClaims, {
      metadata: { namespace, name: 'full' },
      spec: { accessModes: ['ReadWriteMany'], resources: { requests: { storage: '1Mi' } } },
    });
    await server.until(
      async () => (await readClaim(server, 'full')).status?.phase === 'Bound',
      'the claim is bound',
    );
    const full = await upload(server, 'pvc', 'full', '--no-create', ...disk);
    assert.match(full.err, /has its volume already, whose content cannot be replaced/);
  });
});

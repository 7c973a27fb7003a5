import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KubeObject } from '@sheaf/api';
import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { HttpServer } from '@sheaf/apiserver';
import { kubeconfigText } from '@sheaf/apiserver/certificates/kubeconfig';
import { silentLogger, sleep } from '@sheaf/base';
import { type Client, DiscoveryReader, resources } from '@sheaf/client';
import { type LocalDisk, openLocalDisk } from '@sheaf/drivers/local-disk';
import { DirectoryMachineFiles } from '@sheaf/drivers/machine-files';
import { openQemu } from '@sheaf/drivers/qemu';
import { systemClock, systemRandom } from '@sheaf/drivers/system';
import { extend as extendByDataVolumes, register as registerDataVolumes } from '@sheaf/features/data-volume';
import { extend as extendByUploads, register as registerUploads } from '@sheaf/features/upload';
import { extend, registerInstances, registerMachines } from '@sheaf/features/vm';
import { UploadDesk } from '@sheaf/features/vm-image';
import { extend as extendByVolumes, register as registerVolumes } from '@sheaf/features/volume';
import type { Hypervisor, Volumes } from '@sheaf/ports';
import { Manager } from '@sheaf/runtime';
import { startTestServer, testCertificates } from '@sheaf/testkit';
import { testGuestImage } from '../../packages/drivers/qemu/firmware/test-guest.gen.ts';

/** A server that runs real machines, over HTTPS, with a kubeconfig of its administrator. */
export interface MachineServer {
  readonly client: Client;
  readonly disk: LocalDisk;
  readonly directory: string;
  readonly kubeconfig: string;
  readonly url: string;
  /** Waits until the machine of this name has this `status.printableStatus`. */
  reaches(name: string, status: string): Promise<void>;
  until(claim: () => Promise<boolean>, what: string): Promise<void>;
  close(): Promise<void>;
}

const kinds = [
  'virtualmachines.kubevirt.io',
  'virtualmachineinstances.kubevirt.io',
  'virtualmachineclusterinstancetypes.instancetype.kubevirt.io',
  'virtualmachineinstancetypes.instancetype.kubevirt.io',
  'virtualmachineclusterpreferences.instancetype.kubevirt.io',
  'virtualmachinepreferences.instancetype.kubevirt.io',
  'datavolumes.cdi.kubevirt.io',
  'datasources.cdi.kubevirt.io',
  'cdiconfigs.cdi.kubevirt.io',
  'keypairs.harvesterhci.io',
  'virtualmachineimages.harvesterhci.io',
  'volumesnapshots.snapshot.storage.k8s.io',
  'volumesnapshotcontents.snapshot.storage.k8s.io',
  'network-attachment-definitions.k8s.cni.cncf.io',
];
const patienceMs = 90_000;
const endMs = 30_000;

/** Why machines cannot run here; a server otherwise. */
export async function startMachineServer(): Promise<MachineServer | { readonly missing: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-machines-'));
  const surroundings = { clock: systemClock, random: systemRandom, logger: silentLogger };
  const opened: { volumes?: Volumes } = {};
  const qemu = openQemu({
    ...surroundings,
    directory: join(directory, 'machines'),
    accelerator: 'tcg',
    mayWrite: async (path) => (await opened.volumes?.mayWrite(path, new AbortController().signal)) ?? true,
  });
  const { hypervisor: ability } = await qemu.probe(AbortSignal.timeout(endMs));
  if (!ability.isAvailable) {
    await rm(directory, { recursive: true, force: true });
    return { missing: ability.reason };
  }
  const guest = join(directory, 'guest.bin');
  await writeFile(guest, testGuestImage());
  const hypervisor = withGuest(qemu, guest);
  const disk = await openLocalDisk({
    ...surroundings,
    directory: join(directory, 'volumes'),
    overCommitment: 1,
  });
  const { images } = disk;
  opened.volumes = disk.volumes;
  const uploads = new UploadDesk({ images, clock: systemClock });
  const test = await startTestServer({
    clock: systemClock,
    extend: (api, client) => {
      extend(api, { client, hypervisor, clock: systemClock, random: systemRandom });
      extendByVolumes(api, client);
      extendByDataVolumes(api);
      extendByUploads(api, { client, images, uploads, clock: systemClock, random: systemRandom });
    },
  });
  const { client } = test;
  const manager = new Manager({ client, ...surroundings });
  registerMachines(manager, {
    volumes: disk.volumes,
    abilities: () => ({ canAddSockets: false, canAddMemory: false }),
    forgetPersistent: (uid, signal) => hypervisor.forgetPersistent(uid, signal),
  });
  registerInstances(manager, {
    hypervisor,
    volumes: disk.volumes,
    files: new DirectoryMachineFiles(join(directory, 'machine-files')),
    containers: { disks: disk.containerDisks, volumes: disk.volumes },
    nodeName: 'node-1',
    memoryBytes: () => 2 ** 30,
    hasBridge: () => false,
  });
  registerVolumes(manager, { volumes: disk.volumes, images, hypervisor });
  registerDataVolumes(manager, { images, containers: disk.containerDisks });
  const { authority, admin, serving } = await testCertificates();
  const http = new HttpServer({
    handler: test.server.handle,
    clock: systemClock,
    tls: { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem },
  });
  const { port } = await http.listen('127.0.0.1', 0);
  const url = `https://127.0.0.1:${port}`;
  registerUploads(manager, { images, address: { url, authority: authority.certificatePem } });
  const kubeconfig = join(directory, 'kubeconfig');
  const text = kubeconfigText({
    server: url,
    authorityPem: authority.certificatePem,
    credentials: { certificatePem: admin.certificatePem, privateKeyPem: admin.privateKeyPem },
  });
  await writeFile(kubeconfig, text, { mode: 0o600 });
  await serveKinds(client);
  await client.create(resources.namespaces, { metadata: { name: 'default' } });
  void manager.start();
  return {
    client,
    disk,
    directory,
    kubeconfig,
    url,
    until: (claim, what) => until(claim, () => what),
    async reaches(name, wanted) {
      let machine: KubeObject | undefined;
      const isReached = async (): Promise<boolean> => {
        const found = await client.find(resources.virtualMachines, { namespace: 'default', name });
        machine = found;
        return found?.status?.printableStatus === wanted;
      };
      await until(isReached, () => `${name} is ${wanted}: ${JSON.stringify(machine)}`);
    },
    async close() {
      await manager.stop();
      for (const { id, state } of await qemu.list(AbortSignal.timeout(endMs)))
        if (state !== 'ended') await qemu.end(id, AbortSignal.timeout(endMs));
      await http.close(100);
      await test.close();
      qemu.dispose();
      await disk.dispose();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Machines start with the guest that listens on their serial console instead of a firmware that looks for a disk. */
function withGuest(hypervisor: Hypervisor, path: string): Hypervisor {
  return new Proxy(hypervisor, {
    get(target, key: keyof Hypervisor) {
      if (key !== 'start') return target[key].bind(target);
      const start: Hypervisor['start'] = (spec, signal) =>
        target.start({ ...spec, firmware: { kind: 'file', path } }, signal);
      return start;
    },
  });
}

async function serveKinds(client: Client): Promise<void> {
  const definitions = kindDefinitions().filter(({ name }) => kinds.includes(name));
  for (const definition of customResourceDefinitions(definitions))
    await client.create(resources.customResourceDefinitions, definition);
  await until(
    async () => {
      const { all } = await new DiscoveryReader(client).read();
      const served = new Set(all.map(({ plural, group }) => `${plural}.${group}`));
      return kinds.every((name) => served.has(name));
    },
    () => 'all kinds are served',
  );
}

async function until(claim: () => Promise<boolean>, what: () => string): Promise<void> {
  const limit = systemClock.monotonic() + patienceMs;
  while (!(await claim())) {
    if (systemClock.monotonic() > limit) throw new Error(`this did not become true: ${what()}`);
    await sleep(systemClock, 20);
  }
}

import { testPodVolumes } from '@sheaf/ports/pod-volumes.contract';
import { SimulatedPodVolumes, SimulatedVolumeHost } from './index.ts';

testPodVolumes({
  driver: 'simulated',
  withBench: async (use) => {
    const host = new SimulatedVolumeHost();
    const found = (path: string) => {
      const file = host.find(path);
      if (!file) throw new Error(`there is no ${path}`);
      return file;
    };
    const bench = {
      volumes: new SimulatedPodVolumes(host),
      group: host.group,
      hostPath: (name: string) => `/host/${name}`,
      read: (path: string) => Promise.resolve(Buffer.from(found(path).bytes).toString()),
      write: async (path: string, text: string) => {
        await Promise.resolve();
        host.write(path, text);
      },
      entries: (path: string) => Promise.resolve(host.entries(path)),
      look: (path: string) => Promise.resolve({ mode: found(path).mode, group: found(path).group }),
      versionOf: (path: string) => Promise.resolve(String(host.versions.get(path))),
      capacity: (path: string) => Promise.resolve(host.mounts.get(path)?.capacityBytes ?? 0),
      makeDisk: (bytes: number) => {
        const path = `/disk-${host.disks.size}.qcow2`;
        host.disks.set(path, bytes);
        return Promise.resolve({ path, format: 'qcow2' as const });
      },
      growDisk: (disk: { readonly path: string }, bytes: number) => {
        host.disks.set(disk.path, bytes);
        return Promise.resolve();
      },
      openDisk: ({ path }: { readonly path: string }) => {
        host.openDisks.add(path);
        return Promise.resolve(async () => {
          await Promise.resolve();
          host.openDisks.delete(path);
        });
      },
      outdate: ({ path }: { readonly path: string }) => void host.outdatedDisks.add(path),
      restart: () => {
        bench.volumes = new SimulatedPodVolumes(host);
        return Promise.resolve();
      },
      restartHost: () => {
        host.restart();
        return Promise.resolve();
      },
      traces: () => Promise.resolve(host.traces()),
    };
    await use(bench);
  },
});

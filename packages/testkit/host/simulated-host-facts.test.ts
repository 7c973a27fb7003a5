import { testHost } from '@sheaf/ports/host.contract';
import { SimulatedHostFacts } from './simulated-host-facts.ts';

testHost('the simulated host', async (use) => {
  const host = new SimulatedHostFacts();
  await use({
    host,
    rename: (hostname) => Promise.resolve(host.change({ hostname })),
    reboot: () => Promise.resolve(host.reboot()),
    hide: () =>
      Promise.resolve(
        host.change({
          availableMemoryBytes: undefined,
          osImage: undefined,
          kernelVersion: undefined,
          bootId: undefined,
          machineId: undefined,
          systemUuid: undefined,
          disk: undefined,
          processes: undefined,
          uptimeSeconds: undefined,
        }),
      ),
  });
});

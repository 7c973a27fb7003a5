import { testContainerDisks } from '@sheaf/ports/container-disks.contract';
import { SimulatedContainers, SimulatedRegistry } from './index.ts';
import { withSimulatedDisk } from './simulated-disk.fixture.ts';

testContainerDisks('simulated', (use) =>
  withSimulatedDisk((disks) => {
    const registry = new SimulatedRegistry();
    const containers = new SimulatedContainers(disks.images, registry);
    return use({
      disks,
      containers,
      async push(name, files) {
        registry.push(`registry.test/${name}`, files);
        return `registry.test/${name}`;
      },
      lookups: () => registry.lookups,
    });
  }),
);

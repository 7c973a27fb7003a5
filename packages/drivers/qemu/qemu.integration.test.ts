import { testHypervisor } from '@sheaf/ports/hypervisor/hypervisor.contract';
import { QemuWorld, qemuIsMissing } from './qemu-world.fixture.ts';

testHypervisor({
  driver: 'QEMU',
  skip: qemuIsMissing,
  withWorld: async (use) => {
    const world = await QemuWorld.make();
    try {
      await use(world);
    } finally {
      await world.dispose();
    }
  },
});

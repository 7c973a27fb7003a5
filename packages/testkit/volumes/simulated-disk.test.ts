import { testImageSizes } from '@sheaf/ports/image-sizes.contract';
import { testImages } from '@sheaf/ports/images.contract';
import { testMachineMemories } from '@sheaf/ports/machine-memories.contract';
import { testVolumes } from '@sheaf/ports/volumes.contract';
import { withSimulatedDisk } from './simulated-disk.fixture.ts';

testVolumes('simulated', withSimulatedDisk);
testImages('simulated', withSimulatedDisk);
testMachineMemories('simulated', withSimulatedDisk);
testImageSizes('simulated', withSimulatedDisk);

export { SimulatedContainers, SimulatedRegistry } from './simulated-containers.ts';
export { openSimulatedDisk, type SimulatedDisk } from './simulated-disk.ts';
export { noDiskFaults, SimulatedCrash, type SimulatedDiskFaults } from './simulated-life.ts';
export { SimulatedMedium } from './simulated-medium.ts';
export { type SimulatedAnswer, SimulatedSources } from './simulated-sources.ts';

export { SimulatedMachineFiles } from './simulated-machine-files.ts';

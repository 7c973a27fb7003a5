export {
  type HypervisorFaults,
  type SimulatedAgent,
  SimulatedHost,
  type SimulatedHostOptions,
} from './simulated-host.ts';
export { SimulatedHypervisor } from './simulated-hypervisor.ts';

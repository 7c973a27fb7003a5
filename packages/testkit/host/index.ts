export { SimulatedHostFacts } from './simulated-host-facts.ts';

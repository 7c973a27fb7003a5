export { type ServiceFaults, SimulatedServiceHost } from './simulated-service-host.ts';
export { SimulatedServiceProxy } from './simulated-service-proxy.ts';

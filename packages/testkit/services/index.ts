export { SimulatedNameServer } from './simulated-name-server.ts';
export { type ServiceFaults, SimulatedServiceHost } from './simulated-service-host.ts';
export { SimulatedServiceProxy } from './simulated-service-proxy.ts';

export type { NearServer, NearWatch } from './near-server.ts';
export { type NetworkFaults, noFaults, type RequestTamper, type RequestWitness } from './network.ts';
export { type ScheduledPortOptions, scheduledPort } from './scheduled-port.ts';
export type { Scheduler } from './scheduler.ts';
export { type SimulatedServer, Simulation, type SimulationOptions } from './simulation.ts';
export { StepClock } from './step-clock.ts';

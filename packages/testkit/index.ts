export { SeededRandom } from './seeded-random.ts';
export { serveKinds } from './served-kinds.ts';
export { allTasks, type SettleOptions, settle } from './settle.ts';
export {
  type NetworkFaults,
  noFaults,
  type RequestTamper,
  type RequestWitness,
  type Scheduler,
  type SimulatedServer,
  Simulation,
  type SimulationOptions,
  StepClock,
  scheduledPort,
} from './simulation/index.ts';
export { TestClock } from './test-clock.ts';
export {
  startTestServer,
  type TestServer,
  type TestServerOptions,
  testAdmin,
  testCertificates,
} from './test-server.ts';

export { guestArchive, guestImage, guestIsMissing } from './guest-image.ts';
export {
  type ContainerFaults,
  SimulatedContainerHost,
  type SimulatedContainerHostOptions,
  type SimulatedSource,
} from './simulated-container-host.ts';
export { SimulatedContainers } from './simulated-containers.ts';
export { type SimulatedArchive, SimulatedContainerImages } from './simulated-images.ts';

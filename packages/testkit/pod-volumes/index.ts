export { SharedPodVolumes } from './shared-pod-volumes.ts';
export { SimulatedPodVolumes } from './simulated-pod-volumes.ts';
export { SimulatedVolumeHost } from './simulated-volume-host.ts';

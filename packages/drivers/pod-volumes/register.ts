export { openPodVolumes, type PodVolumesOptions } from './open-pod-volumes.ts';

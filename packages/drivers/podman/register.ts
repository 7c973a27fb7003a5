export { dockerArchive, type ImageContent } from './archive/image-archive.ts';
export { openPodman, type Podman, type PodmanOptions } from './open-podman.ts';

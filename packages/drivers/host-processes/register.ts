export { ContainersBeside } from './containers-beside.ts';
export type { HostProgram } from './host-program.ts';
export { ImagesBeside } from './images-beside.ts';
export { openHostProcesses } from './open-host-processes.ts';

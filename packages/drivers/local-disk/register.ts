export { type LocalDisk, type LocalDiskOptions, openLocalDisk } from './local-disk.ts';

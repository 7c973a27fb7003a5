export { openQemu, type QemuOptions } from './open-qemu.ts';

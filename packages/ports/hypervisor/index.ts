export * from './hypervisor.ts';
export * from './machine.ts';
export * from './machine-devices.ts';
export * from './machine-state.ts';

export * from './container.ts';
export * from './container-image.ts';
export * from './container-log.ts';
export * from './container-process.ts';
export * from './container-security.ts';
export * from './container-state.ts';
export * from './containers.ts';
export * from './sandbox.ts';

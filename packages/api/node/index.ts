export * from './capacity.ts';
export * from './node.ts';
export * from './pressure.ts';

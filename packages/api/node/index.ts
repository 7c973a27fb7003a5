export * from './capacity.ts';
export * from './node.ts';

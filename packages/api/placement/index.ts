export * from './node-selection.ts';
export * from './peer-selection.ts';
export type * from './placement-spec.ts';

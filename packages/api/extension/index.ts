export * from './admission.ts';
export * from './answer.ts';
export * from './extension-set.ts';
export type * from './group.ts';
export * from './node-route.ts';
export type * from './process-answer.ts';
export type * from './request.ts';
export type * from './route.ts';

export type * from './generated/apps.ts';
export type * from './generated/batch.ts';
export type * from './generated/core.ts';
export type { Endpoint, EndpointConditions, EndpointSlice } from './generated/discovery.ts';
export * from './log-query.ts';
export * from './pod-claims.ts';
export * from './pod-containers.ts';
export * from './pod-requests.ts';

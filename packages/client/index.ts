export * from './client.ts';
export * from './discovery.ts';
export { type HttpTransportOptions, httpTransport } from './http-transport.ts';
export * from './in-process-transport.ts';
export { KubeconfigError, readKubeconfig } from './kubeconfig.ts';
export { resources } from './resource-refs.ts';
export * from './transport.ts';
export type { WatchEvent } from './watch-events.ts';

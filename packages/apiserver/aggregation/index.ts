export { LocalServices } from './local-services.ts';
export { aggregationDelegate } from './proxy.ts';
export { RemoteServices } from './remote-services.ts';

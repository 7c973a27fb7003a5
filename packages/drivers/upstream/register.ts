export { HostBackends } from './backend-proxy.ts';
export { HttpsUpstream } from './https-upstream.ts';

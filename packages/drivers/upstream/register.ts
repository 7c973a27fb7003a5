export { HttpsUpstream } from './https-upstream.ts';

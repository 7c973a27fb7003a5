import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { ApiRequest } from '../pipeline/api-request.ts';
import { headerOf } from '../pipeline/request-context.ts';

const compress = promisify(gzip);

/** Smaller answers are not worth the time. */
const thresholdBytes = 128 * 1024;

export function isWorthCompressing(request: ApiRequest, body: Uint8Array): boolean {
  return body.length > thresholdBytes && /\bgzip\b/.test(headerOf(request, 'accept-encoding') ?? '');
}

/** gzip at its fastest level, off the main thread. */
export function compressed(body: Uint8Array): Promise<Uint8Array> {
  return compress(body, { level: 1 });
}

import type { ApiResponse } from './api-request.ts';

/** An answer whose whole body is at hand. */
export function bytesResponse(status: number, contentType: string, body: Uint8Array): ApiResponse {
  return { status, headers: { 'content-type': contentType }, body: { kind: 'bytes', chunks: [body] } };
}

export function textResponse(status: number, text: string): ApiResponse {
  return bytesResponse(status, 'text/plain; charset=utf-8', Buffer.from(text, 'utf8'));
}

/** What a path answers that the server does not know: plain text, as clients of other groups expect. */
export function pageNotFound(): ApiResponse {
  return {
    ...textResponse(404, '404 page not found\n'),
    headers: { 'content-type': 'text/plain; charset=utf-8', 'x-content-type-options': 'nosniff' },
  };
}

/** Clients wait and try again by themselves. */
export function tooManyRequests(): ApiResponse {
  return {
    ...textResponse(429, 'Too many requests, please try again later.\n'),
    headers: {
      'content-type': 'text/plain; charset=utf-8',
      'x-content-type-options': 'nosniff',
      'retry-after': '1',
    },
  };
}

import type { ApiRequest } from './api-request.ts';

const longSubresources = /\/(proxy|log|exec|attach|portforward)(\/|$)/;

/** Watches, proxies and streams of pods have no deadline and do not count against the limits of short requests. */
export function isLongRunning(request: Pick<ApiRequest, 'path' | 'query'>): boolean {
  if (request.query.includes('watch=') && /(^|&)watch=(1|true)(&|$)/i.test(request.query)) return true;
  return (
    request.path.includes('/watch/') ||
    longSubresources.test(request.path) ||
    request.path === '/sheaf/v1/backup'
  );
}

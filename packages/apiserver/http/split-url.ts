/** A request target as path and raw query. Absolute forms lose their origin. */
export function splitUrl(target: string): { path: string; query: string } {
  const start = target.startsWith('/') ? 0 : pathStart(target);
  const mark = target.indexOf('?', start);
  if (mark < 0) return { path: target.slice(start), query: '' };
  return { path: target.slice(start, mark), query: target.slice(mark + 1) };
}

function pathStart(target: string): number {
  const scheme = target.indexOf('://');
  const slash = scheme < 0 ? -1 : target.indexOf('/', scheme + 3);
  return slash < 0 ? target.length : slash;
}

import type { PathHandler } from '../pipeline/path-handler.ts';
import { bytesResponse } from '../pipeline/responses.ts';
import type { ResourceRegistry } from '../registry/resource-registry.ts';

/** `/`: every path that the server knows, sorted. `further` gives those that are no API groups. */
export function indexPath(registry: ResourceRegistry, further: () => readonly string[]): PathHandler {
  return ({ info }) => {
    if (info.path !== '/' && info.path !== '/index.html') return undefined;
    const paths = [...new Set([...groupPaths(registry), ...further()])].sort();
    return bytesResponse(200, 'application/json', Buffer.from(JSON.stringify({ paths }, undefined, 2)));
  };
}

function groupPaths(registry: ResourceRegistry): string[] {
  const paths = ['/api', '/apis', '/apis/'];
  for (const { group, version } of registry.all()) {
    if (group === '') paths.push(`/api/${version}`);
    else paths.push(`/apis/${group}`, `/apis/${group}/${version}`);
  }
  return paths;
}

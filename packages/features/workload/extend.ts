import type { ApiExtensions } from '@sheaf/api';
import { type ImageParts, imageRoutes } from './image/image-routes.ts';
import { podStreamEndpoints } from './pod/streams/endpoints.ts';
import type { LogParts } from './pod/streams/log.ts';

/**
 * What can be asked of the images of this node, and what can be seen of the containers of its pods and done in them; added while the
 * server is put together.
 */
export function extend(api: ApiExtensions, parts: ImageParts & LogParts): void {
  for (const route of imageRoutes(parts)) api.addRoute(route);
  api.addGroup({ group: '', version: 'v1', endpoints: podStreamEndpoints(parts) });
}

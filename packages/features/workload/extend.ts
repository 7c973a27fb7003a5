import type { ApiExtensions } from '@sheaf/api';
import { type ImageParts, imageRoutes } from './image/image-routes.ts';

/** What can be asked of the images of this node; added while the server is put together. */
export function extend(api: ApiExtensions, parts: ImageParts): void {
  for (const route of imageRoutes(parts)) api.addRoute(route);
}

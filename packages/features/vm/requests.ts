import type { ApiExtensions } from '@sheaf/api';
import type { Clock, Random } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import type { Hypervisor } from '@sheaf/ports';
import { actionRoutes } from './actions/action-routes.ts';
import { subresourceEndpoints } from './routes.ts';
import { furtherEndpoints } from './subresources/endpoints.ts';

export interface RequestParts {
  readonly client: Client;
  readonly hypervisor: Hypervisor;
  readonly clock: Clock;
  /** For the names of what requests make. */
  readonly random: Random;
}

const group = 'subresources.kubevirt.io';

/** Adds what can be asked of virtual machines, besides reading and writing them, to the API. */
export function extendByRequests(api: ApiExtensions, parts: RequestParts): void {
  const endpoints = [...subresourceEndpoints(parts), ...furtherEndpoints(parts)];
  // Clients ask for the one or the other; there is no difference.
  for (const version of ['v1', 'v1alpha3']) api.addGroup({ group, version, endpoints });
  for (const route of actionRoutes(parts)) api.addRoute(route);
}

import type { ApiExtensions } from '@sheaf/api';
import type { Client } from '@sheaf/client';
import { claimRule, classRule } from './admission.ts';
import { volumeRoutes } from './routes.ts';

/** What is refused of claims and storage classes, and the actions on claims. */
export function extend(api: ApiExtensions, client: Client): void {
  for (const rule of [claimRule, classRule]) api.addAdmission(rule);
  for (const route of volumeRoutes(client)) api.addRoute(route);
}

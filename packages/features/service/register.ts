import type { Manager } from '@sheaf/runtime';
import { register as registerEndpointSlices } from './endpoint-slice/register.ts';

/** The controllers of Services. */
export function register(manager: Manager): void {
  registerEndpointSlices(manager);
}

import type { KubeObject } from '@sheaf/api';
import type { ResourceRef } from '@sheaf/client';

/** Made at the start when it is missing. */
export interface BuiltIn {
  readonly resource: ResourceRef;
  readonly object: KubeObject;
  /** What it goes with. */
  readonly owner?: { readonly resource: ResourceRef; readonly namespace: string; readonly name: string };
}

import type { ServedResource } from '@sheaf/client';

export function served(group: string, plural: string, kind: string, namespaced = true): ServedResource {
  return { group, version: 'v1', plural, kind, namespaced, verbs: ['get', 'list'] };
}

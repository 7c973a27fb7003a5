import { definitionOfKind, type GroupVersionKind } from '@sheaf/api';
import { componentName } from '../custom-resource/index.ts';

/** The name of a kind's definition, built-in or custom. */
export function definitionNameOf(kind: GroupVersionKind): string {
  return definitionOfKind(kind) ?? componentName(kind.group, kind.version, kind.kind);
}

const meta = 'io.k8s.apimachinery.pkg.apis.meta.v1';

/** Definitions every document with resources refers to. */
export const metaDefinitions = {
  resourceList: `${meta}.APIResourceList`,
  deleteOptions: `${meta}.DeleteOptions`,
  patch: `${meta}.Patch`,
  status: `${meta}.Status`,
  watchEvent: `${meta}.WatchEvent`,
};

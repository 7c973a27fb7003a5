import type { GroupVersionKind } from '../meta/object.ts';

/** One served resource of a built-in group version. */
export interface BuiltinResource extends GroupVersionKind {
  readonly resource: string;
  readonly singularName: string;
  /** Empty for resources that cannot be listed (reviews, bindings). */
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources: readonly BuiltinSubresource[];
}

export interface BuiltinSubresource {
  /** e.g. `status`, `scale` */
  readonly name: string;
  /** What the subresource reads and writes; a subresource may speak another group's kind (Scale, TokenRequest). */
  readonly kind: GroupVersionKind;
  readonly verbs: readonly string[];
}

/** The Go package and the kinds of its own that an API version has. */
export interface VersionKinds {
  readonly package: string;
  readonly kinds: readonly string[];
}

/** The form of `generated/resources.json`. */
export interface ResourceFile {
  readonly resources: readonly BuiltinResource[];
  readonly kindsOfVersions: Readonly<Record<string, VersionKinds>>;
  readonly sharedKinds: readonly string[];
}

import type { FieldError } from '../meta/field-error.ts';
import type { KubeObject } from '../meta/object.ts';

/** How names of a kind are checked. */
export type NameRule = 'dns-subdomain' | 'dns-label' | 'dns-1035-label' | 'path-segment';

/**
 * What a built-in kind demands beyond its schema. All functions are pure; objects have passed `conform`, so their
 * fields have the declared types. Whatever is absent has the usual behaviour: no extra defaults, no extra checks,
 * `dns-subdomain` names, status kept apart where the kind has a status subresource.
 */
export interface KindRules {
  readonly nameRule?: NameRule;
  /** `metadata.generation` starts at 1 and grows with each change of the spec. */
  readonly tracksGeneration?: boolean;
  /** PUT to a missing object creates it. */
  readonly allowsCreateOnUpdate?: boolean;
  /** PUT without a resourceVersion overwrites; default true. */
  readonly allowsUnconditionalUpdate?: boolean;
  /** What a delete without a propagation policy means; default Background. */
  readonly defaultPropagation?: 'Background' | 'Orphan';
  /** Fills in what upstream's defaulting fills in. Idempotent. Changes `object` in place. */
  applyDefaults?(object: KubeObject): void;
  /** Clears or computes what a client may not set, e.g. `stringData` into `data`. Status is already cleared. */
  prepareForCreate?(object: KubeObject): void;
  /** The same for an update of the main endpoint; status is already restored from `old`. */
  prepareForUpdate?(next: KubeObject, old: KubeObject): void;
  validateCreate?(object: KubeObject): readonly FieldError[];
  /** Checks the change; `next` has also passed the rules of a create where they apply to updates. */
  validateUpdate?(next: KubeObject, old: KubeObject): readonly FieldError[];
  validateStatusUpdate?(next: KubeObject, old: KubeObject): readonly FieldError[];
  /** Values for field selectors beyond metadata.name and metadata.namespace; every supported label is present. */
  selectableFields?(object: KubeObject): Record<string, string>;
  /** Texts for `Warning` headers. */
  warnings?(next: KubeObject, old: KubeObject | undefined): readonly string[];
}

/** A built-in kind that is kept in another version's shape: HPA v1 in v2, events.k8s.io events in core ones. */
export interface KindConversion {
  /** The group and version in which objects are kept. */
  readonly storage: { readonly group: string; readonly version: string };
  /** Both keep metadata, set apiVersion and kind, and lose nothing. May change and return their argument. */
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
}

import type { ObjectMeta } from '../meta/object.ts';
import type { LabelSelector } from '../meta/selectors.ts';

/** The part of the spec of a pod or of a machine that says where it may run; what is only preferred decides nothing on one node. */
export interface PlacementSpec {
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly affinity?: Affinity | undefined;
  readonly tolerations?: readonly Toleration[] | undefined;
  readonly topologySpreadConstraints?: readonly SpreadConstraint[] | undefined;
}

/** Something that gets a place on a node. */
export interface Placeable {
  readonly metadata: ObjectMeta;
  readonly spec: PlacementSpec;
}

/** What it is called in advice. */
export type PlaceableNoun = 'pod' | 'machine';

export interface Affinity {
  readonly nodeAffinity?:
    | { readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | undefined }
    | undefined;
  readonly podAffinity?: PeerTerms | undefined;
  readonly podAntiAffinity?: PeerTerms | undefined;
}

export interface NodeSelector {
  readonly nodeSelectorTerms: readonly NodeSelectorTerm[];
}

export interface NodeSelectorTerm {
  readonly matchExpressions?: readonly NodeRequirement[] | undefined;
  readonly matchFields?: readonly NodeRequirement[] | undefined;
}

export interface NodeRequirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[] | undefined;
}

export interface PeerTerms {
  readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly PeerTerm[] | undefined;
}

export interface PeerTerm {
  readonly labelSelector?: LabelSelector | undefined;
  readonly namespaces?: readonly string[] | undefined;
  readonly namespaceSelector?: LabelSelector | undefined;
  readonly topologyKey: string;
}

export interface Toleration {
  readonly key?: string | undefined;
  readonly operator?: string | undefined;
  readonly value?: string | undefined;
  readonly effect?: string | undefined;
}

export interface SpreadConstraint {
  readonly maxSkew: number;
  readonly topologyKey: string;
  readonly whenUnsatisfiable: string;
  readonly labelSelector?: LabelSelector | undefined;
  readonly minDomains?: number | undefined;
}

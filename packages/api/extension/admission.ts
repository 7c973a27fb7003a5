import type {
  JsonObject,
  JsonPatchOperation,
  Random,
  StatusCause,
  StatusError,
  StatusReason,
} from '@sheaf/base';
import type { GroupVersionKind, GroupVersionResource, KubeObject } from '../meta/object.ts';
import type { AccessQuestion, RequestUser } from './request.ts';

export interface GroupResource {
  readonly group: string;
  /** Plural. */
  readonly resource: string;
}

export interface AdmissionTarget extends GroupResource {
  /** Absent: the object itself, not its subresources. */
  readonly subresource?: string;
}

type Operation = 'CREATE' | 'UPDATE' | 'DELETE' | 'CONNECT';

/**
 * A feature's say in writes of objects, built-in and custom, in whichever version. Its functions are pure: what they decide follows
 * from their arguments. They change none of them; objects are shared with the rest of the server.
 */
export interface AdmissionRule {
  /** In metrics and faults, e.g. `virtual-machine`. */
  readonly name: string;
  readonly targets: readonly AdmissionTarget[];
  readonly operations: readonly Operation[];
  /** Other objects that it looks at; they are kept at hand in memory. */
  readonly reads?: readonly GroupResource[];
  /**
   * Before anything is validated; on DELETE it has nothing to change. Called again when a webhook has changed the object after it,
   * so it must be idempotent.
   */
  mutate?: AdmissionFunction<AdmissionMutation>;
  /** When nothing changes the object any more. */
  validate?: AdmissionFunction<AdmissionVerdict>;
}

/** `object` is what is to be written, absent on DELETE; `old` is what is there, absent on CREATE. */
export type AdmissionFunction<Decision> = (
  object: KubeObject | undefined,
  old: KubeObject | undefined,
  context: AdmissionContext,
) => Decision | Promise<Decision>;

export interface AdmissionContext {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly namespace: string;
  /** May be empty on a create with generateName. */
  readonly name: string;
  readonly user: RequestUser;
  readonly dryRun: boolean;
  /** CreateOptions, UpdateOptions, PatchOptions or DeleteOptions. */
  readonly options: JsonObject;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly random: Random;
  readonly objects: AdmissionObjects;
  may(question: AccessQuestion): Promise<boolean>;
}

/**
 * The objects of the resources in `reads`, as they are kept: in their storage version, never behind an acknowledged write. The
 * write that is admitted is not among them yet, nor are others that are admitted at the same time.
 */
export interface AdmissionObjects {
  find(resource: GroupResource, ref: { namespace?: string; name: string }): KubeObject | undefined;
  /** All, or those of one namespace. */
  list(resource: GroupResource, namespace?: string): readonly KubeObject[];
}

interface Warned {
  /** Sent as `Warning` headers, which kubectl prints. */
  readonly warnings?: readonly string[];
}

export interface Allowed extends Warned {
  readonly decision: 'allow';
}

export interface Denied extends Warned {
  readonly decision: 'deny';
  readonly reason: StatusReason;
  /** The HTTP status, where it is not the reason's usual one. */
  readonly code?: number;
  /** What is wrong: a sentence without its full stop. */
  readonly message: string;
  /** What the user can do about it; it follows the message wherever that is shown. */
  readonly wayOut: string;
  readonly causes?: readonly StatusCause[];
}

/** A refusal in words of its own, where clients know them; it names its way out as well. */
export interface Refused extends Warned {
  readonly decision: 'refuse';
  readonly error: StatusError;
}

export interface Patched extends Warned {
  readonly decision: 'patch';
  readonly operations: readonly JsonPatchOperation[];
}

export interface Replaced extends Warned {
  readonly decision: 'replace';
  readonly object: KubeObject;
}

export type AdmissionVerdict = Allowed | Denied | Refused;
export type AdmissionMutation = AdmissionVerdict | Patched | Replaced;

export function allow(...warnings: readonly string[]): Allowed {
  return { decision: 'allow', warnings };
}

export function deny(denial: Omit<Denied, 'decision'>): Denied {
  return { decision: 'deny', ...denial };
}

export function refuse(error: StatusError): Refused {
  return { decision: 'refuse', error };
}

export function patchWith(...operations: readonly JsonPatchOperation[]): Patched {
  return { decision: 'patch', operations };
}

export function replaceWith(object: KubeObject): Replaced {
  return { decision: 'replace', object };
}

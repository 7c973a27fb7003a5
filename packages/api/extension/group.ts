import type { ExtensionAnswer } from './answer.ts';
import type { ApiCall } from './request.ts';

/**
 * An API group version that this process answers itself, without kept objects: `subresources.kubevirt.io/v1`. It is in discovery,
 * has an APIService, and each request is authenticated, authorized (verb by method, group, resource/subresource, namespace,
 * name), audited and counted as requests for any resource are.
 */
export interface ExtensionGroup {
  readonly group: string;
  readonly version: string;
  readonly endpoints: readonly ExtensionEndpoint[];
}

export interface ExtensionEndpoint {
  /** Plural, e.g. `virtualmachines`. */
  readonly resource: string;
  /**
   * e.g. `start`. Absent: the resource itself, with or without a name. One in another (`vnc/screenshot`) is asked for by its whole
   * name, after the outer one (`vnc`) has been.
   */
  readonly subresource?: string;
  /** get (GET), update (PUT), create (POST), patch, delete; `list` is a GET without a name. Others are answered with 405. */
  readonly verbs: readonly string[];
  /** Default true: it is in a namespace. */
  readonly isNamespaced?: boolean;
  /** In discovery; often there is none. */
  readonly kind?: string;
  /** Takes further words of the path, e.g. `portforward/22/tcp`. */
  readonly takesRest?: boolean;
  /**
   * A subresource of a kept kind, which the server then leaves to it: `pods/exec`. Discovery tells of it anyway. With a `kind`
   * (`PodExecOptions`) it is a connection, in which rules about CONNECT have a say.
   */
  readonly isOfKept?: boolean;
  /** Answers requests for an upgrade only; anything else is refused with the way out. */
  readonly isStream?: boolean;
  /** Largest body; default 3 MiB. */
  readonly bodyLimitBytes?: number;
  handle(request: ExtensionRequest): Promise<ExtensionAnswer> | ExtensionAnswer;
}

export interface ExtensionRequest extends ApiCall {
  readonly version: string;
  readonly verb: string;
  /** Empty outside namespaces. */
  readonly namespace: string;
  /** Empty for a collection. */
  readonly name: string;
  /** What follows the subresource, decoded: `['22', 'tcp']`. */
  readonly rest: readonly string[];
}

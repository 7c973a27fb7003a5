import type { StatusError } from '@sheaf/base';
import type { ExtensionAnswer, PlainAnswer } from './answer.ts';
import type { ApiCall } from './request.ts';

/**
 * A path that is no resource, e.g. `POST /v1/harvester/kubevirt.io.virtualmachines/{namespace}/{name}?action=start`. The server
 * authenticates; what the user may do is asked by the route, by `authorize`.
 */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** `{name}` stands for one word, `{name...}` at the end for all further ones. A word goes before a parameter. */
  readonly path: string;
  /** Only requests with this `?action=`. */
  readonly action?: string;
  /**
   * - `authorized`: users that the route lets in; it must ask before it answers, else its answer is thrown away and is a 500.
   * - `authenticated`: every user, but not anonymous ones: 401.
   * - `public`: everybody.
   * - `own-token`: whoever has a token that the route itself has given out. The server looks at no credentials: the user is
   *   anonymous, and the route must look at the header `authorization`.
   */
  readonly access: 'authorized' | 'authenticated' | 'public' | 'own-token';
  /** Largest body; default 3 MiB. */
  readonly bodyLimitBytes?: number;
  /**
   * It may take longer than the minute that requests have, and is not counted among the short ones, whose number is bounded: for
   * uploads. Answers that are streams have no deadline anyway.
   */
  readonly isLongRunning?: boolean;
  handle(request: RouteRequest): Promise<ExtensionAnswer> | ExtensionAnswer;
  /** How a failure looks; absent: a Status. */
  failure?(error: StatusError): PlainAnswer;
}

export interface RouteRequest extends ApiCall {
  /** Of the path, decoded. Those of `{name...}` keep their `/`. */
  readonly parameters: Readonly<Record<string, string>>;
}

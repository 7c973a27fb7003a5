import { StatusError } from '@sheaf/base';
import type { RouteRequest } from './route.ts';

/** Something of a node, as a subresource of it. */
export interface NodePart {
  /** The node that this server runs. */
  readonly nodeName: string;
  readonly subresource: string;
  readonly verb: string;
}

/**
 * Lets in who may do this with a part of the node that the parameter `node` of a route names.
 * @throws StatusError 403, and 404 where the server runs another node
 */
export async function letInToNode(
  request: RouteRequest,
  { nodeName, subresource, verb }: NodePart,
): Promise<void> {
  const { node: name = '' } = request.parameters;
  await request.authorize({ verb, group: '', resource: 'nodes', subresource, name });
  if (name === nodeName) return;
  const message = `this Sheaf runs the node ${nodeName}, and knows nothing of the ${subresource} of ${name}`;
  throw new StatusError({ reason: 'NotFound', message });
}

import {
  type ExtensionAnswer,
  emptyAnswer,
  jsonAnswer,
  type Route,
  type RouteRequest,
  textAnswer,
} from '@sheaf/api';
import { type Client, resources } from '@sheaf/client';
import { type ActionOutcome, nodeActions } from './node-actions.ts';

/** `POST /v1/harvester/nodes/NAME?action=…`: 204, or 200 with what was asked for; refusals are plain text. */
export function nodeRoutes(client: Client): readonly Route[] {
  return ['nodes', 'node'].flatMap((type) =>
    Object.entries(nodeActions).map(([action, decide]) => ({
      method: 'POST' as const,
      path: `/v1/harvester/${type}/{name}`,
      action,
      access: 'authorized' as const,
      handle: (request: RouteRequest) => act(client, request, decide),
      failure: (error) => textAnswer(error.code, error.message),
    })),
  );
}

async function act(
  client: Client,
  { parameters, authorize, body, signal }: RouteRequest,
  decide: (typeof nodeActions)[string],
): Promise<ExtensionAnswer> {
  const { nodes, virtualMachineInstances } = resources;
  const { name = '' } = parameters;
  await authorize({ verb: 'update', group: nodes.group, resource: nodes.plural, name });
  const read = (await body.json()) ?? {};
  const node = await client.get(nodes, { name }, signal);
  const [all, instances] = await Promise.all([
    client.list(nodes, { signal }),
    client.list(virtualMachineInstances, { signal }),
  ]);
  return answer(client, decide({ node, nodes: all.items, instances: instances.items }, read), signal);
}

async function answer(client: Client, outcome: ActionOutcome, signal: AbortSignal): Promise<ExtensionAnswer> {
  if (outcome.outcome === 'tell') return jsonAnswer(200, outcome.value);
  if (outcome.outcome === 'write') await client.update(resources.nodes, outcome.node, { signal });
  return emptyAnswer(204);
}

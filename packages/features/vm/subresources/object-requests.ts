import {
  asJson,
  type ExtensionEndpoint,
  type ExtensionRequest,
  jsonAnswer,
  type KubeObject,
} from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject } from '@sheaf/base';
import type { Client } from '@sheaf/client';
import { readExpansion } from '../instance-types/read-expansion.ts';
import type { VirtualMachine } from '../virtual-machine.ts';
import { instanceResource, machineResource } from '../vm-resources.ts';
import { placeOf, type SubresourceParts } from './instance-request.ts';
import { graphJson, instanceGraph, machineGraph, readGraphOptions } from './object-graph.ts';

/** A machine with everything that it refers to written out, and what it refers to. */
export function objectEndpoints({ client }: SubresourceParts): readonly ExtensionEndpoint[] {
  return [
    {
      resource: 'virtualmachines',
      subresource: 'expand-spec',
      verbs: ['get'],
      async handle(request) {
        const machine = await client.get(machineResource, placeOf(request), request.signal);
        return jsonAnswer(200, await expanded(client, machine, request.signal));
      },
    },
    {
      resource: 'expand-vm-spec',
      verbs: ['update'],
      handle: async (request) => jsonAnswer(200, await expandGiven(client, request)),
    },
    {
      resource: 'virtualmachines',
      subresource: 'objectgraph',
      verbs: ['get'],
      async handle(request) {
        const place = placeOf(request);
        const machine = await client.get(machineResource, place, request.signal);
        const instance = await client.find(instanceResource, place, request.signal);
        const options = readGraphOptions(await request.body.json());
        return jsonAnswer(200, graphJson(machineGraph(machine, instance), options));
      },
    },
    {
      resource: 'virtualmachineinstances',
      subresource: 'objectgraph',
      verbs: ['get'],
      async handle(request) {
        const instance = await client.get(instanceResource, placeOf(request), request.signal);
        const options = readGraphOptions(await request.body.json());
        return jsonAnswer(200, graphJson(instanceGraph(instance), options));
      },
    },
  ];
}

/** With everything that its instance type and preference say written out, and without them. */
async function expanded(client: Client, object: KubeObject, signal: AbortSignal): Promise<JsonObject> {
  const machine = object as VirtualMachine;
  const expansion = await readExpansion(client, machine, signal);
  if (!expansion) return asJson(machine);
  if ('waiting' in expansion)
    throw badRequest(`${expansion.waiting.text}; ${expansion.waiting.wayOut ?? ''}`);
  const { instancetype: _type, preference: _preference, ...spec } = machine.spec;
  return asJson({ ...machine, spec: { ...spec, template: expansion.template } });
}

/** `PUT …/namespaces/NAMESPACE/expand-vm-spec` with a machine that need not be there. */
async function expandGiven(client: Client, request: ExtensionRequest): Promise<JsonObject> {
  const body = await request.body.json();
  if (body === undefined) throw badRequest('empty request body; send a VirtualMachine');
  const { metadata, spec } = body;
  if (!isJsonObject(spec) || !isJsonObject(spec['template']))
    throw badRequest('Object is not a valid VirtualMachine; it needs a spec with a template');
  const own = isJsonObject(metadata) ? metadata : {};
  const { namespace } = request;
  const given = own['namespace'] ?? '';
  if (given !== '' && given !== namespace)
    throw badRequest(`VM namespace must be empty or ${namespace}; correct it, or ask in its namespace`);
  return expanded(client, { ...body, metadata: { ...own, namespace } }, request.signal);
}

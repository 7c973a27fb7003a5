import type { Subresource } from '../registry/resource.ts';
import { anyMediaType } from './media-types.ts';
import type { HttpMethod, Operation, PathDescription } from './operation.ts';
import { capitalized } from './operation-names.ts';
import { nameParameter, restOfPath } from './parameters.ts';
import { collectionPath, ok, type ResourceSubject } from './resource-subject.ts';
import { hoisted } from './shared-parameters.ts';

const connections: ReadonlySet<string> = new Set(['attach', 'exec', 'portforward', 'proxy']);
const streamMethods: readonly HttpMethod[] = ['get', 'post'];
const proxyMethods: readonly HttpMethod[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put'];

/** Subresources that open a way into something else instead of speaking of an object. */
export function isConnection(subresource: string): boolean {
  return connections.has(subresource);
}

export function connectionPaths(subject: ResourceSubject, subresource: Subresource): PathDescription[] {
  const { resource, parameters } = subject;
  const { name } = subresource;
  const always = [
    nameParameter(subresource.kind.kind),
    ...parameters.shared(resource.namespaced ? ['namespace'] : []),
    ...parameters.ofConnection(resource.plural, name),
  ];
  const path = `${collectionPath(subject)}/{name}/${name}`;
  const methods = name === 'proxy' ? proxyMethods : streamMethods;
  const describe = (suffix: string): Operation[] =>
    methods.map((method) => connect(subject, subresource, { method, suffix }));
  const paths = [hoisted(path, describe(''), always)];
  if (name === 'proxy') paths.push(hoisted(`${path}/{path}`, describe('WithPath'), [...always, restOfPath]));
  return paths;
}

function connect(
  { resource, word, scope, tag }: ResourceSubject,
  { name, kind }: Subresource,
  { method, suffix }: { readonly method: HttpMethod; readonly suffix: string },
): Operation {
  return {
    method,
    id: `connect${word}${capitalized(method)}${scope}${resource.kind}${capitalized(name)}${suffix}`,
    description: `connect ${method.toUpperCase()} requests to ${name} of ${resource.kind}`,
    tag,
    action: 'connect',
    kind,
    parameters: [],
    answers: [ok(undefined)],
    produces: anyMediaType,
  };
}

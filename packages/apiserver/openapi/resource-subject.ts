import type { Resource } from '../registry/resource.ts';
import { definitionNameOf } from './definition-names.ts';
import { builtinMediaTypes, customMediaTypes, type MediaTypes } from './media-types.ts';
import type { Answer, HttpMethod, Operation, Parameter } from './operation.ts';
import { groupVersionRoot, groupVersionTag, groupVersionWord } from './operation-names.ts';
import { nameParameter, type ParameterCatalogue } from './parameters.ts';

/** What the description of one resource is made of. */
export interface ResourceSubject {
  readonly resource: Resource;
  readonly parameters: ParameterCatalogue;
  readonly media: MediaTypes;
  readonly root: string;
  readonly tag: string;
  /** e.g. `AppsV1` */
  readonly word: string;
  /** `Namespaced` or nothing. */
  readonly scope: string;
  readonly definition: string;
}

const listKeys = [
  'allowWatchBookmarks',
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
  'watch',
];
export function subjectOf(resource: Resource, parameters: ParameterCatalogue): ResourceSubject {
  const { group, version, kind, isBuiltin } = resource;
  return {
    resource,
    parameters,
    media: isBuiltin ? builtinMediaTypes : customMediaTypes,
    root: groupVersionRoot(group, version),
    tag: groupVersionTag(group, version),
    word: groupVersionWord(group, version),
    scope: resource.namespaced ? 'Namespaced' : '',
    definition: definitionNameOf({ group, version, kind }),
  };
}

/** The collection's path, in a namespace where there are namespaces. */
export function collectionPath({ resource, root }: ResourceSubject): string {
  return resource.namespaced
    ? `${root}/namespaces/{namespace}/${resource.plural}`
    : `${root}/${resource.plural}`;
}

/** Parameters of every path: the name of an object of `kind`, the namespace, and `pretty`. */
export function pathParameters(
  { parameters, resource }: ResourceSubject,
  kind?: string,
): readonly Parameter[] {
  const shared = parameters.shared(resource.namespaced ? ['namespace', 'pretty'] : ['pretty']);
  return kind === undefined ? shared : [nameParameter(kind), ...shared];
}

export function listParameters(subject: ResourceSubject): readonly Parameter[] {
  return subject.parameters.shared(listKeys);
}

/** What all operations of a subject have in common. */
export function baseOf(
  { resource, tag }: ResourceSubject,
  method: HttpMethod,
  action: string,
): Pick<Operation, 'method' | 'action' | 'tag' | 'kind'> {
  const { group, version, kind } = resource;
  return { method, action, tag, kind: { group, version, kind } };
}

export function ok(schema: string | undefined): Answer {
  return { code: 200, schema };
}

export function created(definition: string): readonly Answer[] {
  return [ok(definition), { code: 201, schema: definition }, { code: 202, schema: definition }];
}

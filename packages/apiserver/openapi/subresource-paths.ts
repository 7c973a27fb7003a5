import type { Subresource } from '../registry/resource.ts';
import { isConnection } from './connection-paths.ts';
import { definitionNameOf } from './definition-names.ts';
import { patch, read, replace, writeKeys } from './object-operations.ts';
import type { Operation, PathDescription } from './operation.ts';
import { capitalized, withArticle } from './operation-names.ts';
import { baseOf, collectionPath, created, pathParameters, type ResourceSubject } from './resource-subject.ts';
import { hoisted } from './shared-parameters.ts';

/** `/status`, `/scale`, `/eviction` …: what is read and written like an object. */
export function subresourcePaths(subject: ResourceSubject): readonly PathDescription[] {
  const subresources = [...subject.resource.subresources.values()];
  return subresources
    .filter(({ name }) => !isConnection(name))
    .map((subresource) => subresourcePath(subject, subresource));
}

function subresourcePath(subject: ResourceSubject, subresource: Subresource): PathDescription {
  const { name, kind, verbs } = subresource;
  const suffix = capitalized(name);
  const own: ResourceSubject = { ...subject, definition: definitionNameOf(kind) };
  const target = `${name} of the specified ${subject.resource.kind}`;
  const operations: Operation[] = [];
  if (verbs.includes('get')) operations.push(read(own, { suffix, description: `read ${target}` }));
  if (verbs.includes('patch'))
    operations.push(patch(own, { suffix, description: `partially update ${target}` }));
  if (verbs.includes('create')) operations.push(createSubresource(own, subresource));
  if (verbs.includes('update')) operations.push(replace(own, { suffix, description: `replace ${target}` }));
  const log = name === 'log' ? subject.parameters.ofConnection(subject.resource.plural, name) : [];
  return hoisted(
    `${collectionPath(subject)}/{name}/${name}`,
    // The kind of a custom resource is told even where another one is spoken.
    operations.map((operation) => (subject.resource.isBuiltin ? { ...operation, kind } : operation)),
    [...pathParameters(subject, subject.resource.isBuiltin ? kind.kind : subject.resource.kind), ...log],
  );
}

function createSubresource(subject: ResourceSubject, { name, kind }: Subresource): Operation {
  const { resource, word, scope, media, definition } = subject;
  return {
    ...baseOf(subject, 'post', 'post'),
    kind,
    id: `create${word}${scope}${resource.kind}${capitalized(name)}`,
    description: `create ${name} of ${withArticle(resource.kind)}`,
    parameters: subject.parameters.shared(writeKeys),
    body: { schema: definition, consumes: media.body, isRequired: true },
    answers: created(definition),
    produces: media.object,
  };
}

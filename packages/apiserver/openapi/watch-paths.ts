import { metaDefinitions } from './definition-names.ts';
import type { Operation, Parameter, PathDescription } from './operation.ts';
import { baseOf, listParameters, ok, pathParameters, type ResourceSubject } from './resource-subject.ts';
import { hoisted } from './shared-parameters.ts';

const advice = "deprecated: use the 'watch' parameter with a list operation instead";

/** The old paths under `/watch`. */
export function watchPaths(subject: ResourceSubject): readonly PathDescription[] {
  const { resource, root, scope } = subject;
  if (!resource.verbs.includes('watch')) return [];
  const watched = `${root}/watch`;
  const inNamespace = resource.namespaced ? `${watched}/namespaces/{namespace}` : watched;
  const paths = [
    describe(subject, {
      path: `${inNamespace}/${resource.plural}`,
      operation: watchList(subject, scope, ''),
      always: pathParameters(subject),
    }),
    describe(subject, {
      path: `${inNamespace}/${resource.plural}/{name}`,
      operation: watchOne(subject),
      always: pathParameters(subject, resource.kind),
    }),
  ];
  if (!resource.namespaced) return paths;
  const everywhere = describe(subject, {
    path: `${watched}/${resource.plural}`,
    operation: watchList(subject, '', 'ForAllNamespaces'),
    always: subject.parameters.shared(['pretty']),
  });
  return [...paths, everywhere];
}

interface WatchPath {
  readonly path: string;
  readonly operation: Operation;
  readonly always: readonly Parameter[];
}

function describe(subject: ResourceSubject, { path, operation, always }: WatchPath): PathDescription {
  return hoisted(path, [operation], [...always, ...listParameters(subject)]);
}

function watchList(subject: ResourceSubject, scope: string, suffix: string): Operation {
  const { kind } = subject.resource;
  return {
    ...baseOf(subject, 'get', 'watchlist'),
    id: `watch${subject.word}${scope}${kind}List${suffix}`,
    description: `watch individual changes to a list of ${kind}. ${advice}.`,
    parameters: [],
    answers: [ok(metaDefinitions.watchEvent)],
    produces: subject.media.list,
  };
}

function watchOne(subject: ResourceSubject): Operation {
  const { kind } = subject.resource;
  return {
    ...baseOf(subject, 'get', 'watch'),
    id: `watch${subject.word}${subject.scope}${kind}`,
    description: `watch changes to an object of kind ${kind}. ${advice}, filtered to a single item with the 'fieldSelector' parameter.`,
    parameters: [],
    answers: [ok(metaDefinitions.watchEvent)],
    produces: subject.media.list,
  };
}

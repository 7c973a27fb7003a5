import type { Resource } from '../registry/resource.ts';
import { connectionPaths, isConnection } from './connection-paths.ts';
import { definitionNameOf, metaDefinitions } from './definition-names.ts';
import { patch, read, replace, writeKeys } from './object-operations.ts';
import type { Operation, PathDescription } from './operation.ts';
import { withArticle } from './operation-names.ts';
import type { ParameterCatalogue } from './parameters.ts';
import {
  baseOf,
  collectionPath,
  created,
  listParameters,
  ok,
  pathParameters,
  type ResourceSubject,
  subjectOf,
} from './resource-subject.ts';
import { hoisted } from './shared-parameters.ts';
import { subresourcePaths } from './subresource-paths.ts';
import { watchPaths } from './watch-paths.ts';

const deleteKeys = [
  'dryRun',
  'gracePeriodSeconds',
  'ignoreStoreReadErrorWithClusterBreakingPotential',
  'orphanDependents',
  'propagationPolicy',
];
const deleteCollectionKeys = [
  ...deleteKeys,
  'continue',
  'fieldSelector',
  'labelSelector',
  'limit',
  'resourceVersion',
  'resourceVersionMatch',
  'sendInitialEvents',
  'timeoutSeconds',
];
/** Every path under which a resource is served. */
export function resourcePaths(
  resource: Resource,
  parameters: ParameterCatalogue,
): readonly PathDescription[] {
  const subject = subjectOf(resource, parameters);
  return [
    ...collectionPaths(subject),
    ...objectPaths(subject),
    ...subresourcePaths(subject),
    ...[...resource.subresources.values()]
      .filter(({ name }) => isConnection(name))
      .flatMap((subresource) => connectionPaths(subject, subresource)),
    ...(resource.isBuiltin ? watchPaths(subject) : []),
  ];
}

function collectionPaths(subject: ResourceSubject): PathDescription[] {
  const { verbs } = subject.resource;
  const operations: Operation[] = [];
  if (verbs.includes('deletecollection')) operations.push(deleteCollection(subject));
  if (verbs.includes('list')) operations.push(list(subject, subject.scope, ''));
  if (verbs.includes('create')) operations.push(create(subject));
  const paths: PathDescription[] = [];
  if (operations.length > 0)
    paths.push(hoisted(collectionPath(subject), operations, pathParameters(subject)));
  if (subject.resource.namespaced && verbs.includes('list')) paths.push(allNamespaces(subject));
  return paths;
}

function allNamespaces(subject: ResourceSubject): PathDescription {
  const path = `${subject.root}/${subject.resource.plural}`;
  return hoisted(path, [list(subject, '', 'ForAllNamespaces')], subject.parameters.shared(['pretty']));
}

function list(subject: ResourceSubject, scope: string, suffix: string): Operation {
  const { resource, word, media } = subject;
  const { group, version, kind, listKind } = resource;
  return {
    ...baseOf(subject, 'get', 'list'),
    id: `list${word}${scope}${kind}${suffix}`,
    description: `${resource.isBuiltin && resource.verbs.includes('watch') ? 'list or watch' : 'list'} objects of kind ${kind}`,
    parameters: listParameters(subject),
    answers: [ok(definitionNameOf({ group, version, kind: listKind }))],
    produces: media.list,
  };
}

function create(subject: ResourceSubject): Operation {
  const { resource, word, scope, definition, media } = subject;
  const { kind } = resource;
  return {
    ...baseOf(subject, 'post', 'post'),
    id: `create${word}${scope}${kind}`,
    description: `create ${withArticle(kind)}`,
    parameters: subject.parameters.shared(writeKeys),
    body: { schema: definition, consumes: media.body, isRequired: true },
    answers: created(definition),
    produces: media.object,
  };
}

function deleteCollection(subject: ResourceSubject): Operation {
  const { resource, word, scope, media } = subject;
  return {
    ...baseOf(subject, 'delete', 'deletecollection'),
    id: `delete${word}Collection${scope}${resource.kind}`,
    description: `delete collection of ${resource.kind}`,
    parameters: subject.parameters.shared(deleteCollectionKeys),
    body: { schema: metaDefinitions.deleteOptions, consumes: media.body, isRequired: false },
    answers: [ok(metaDefinitions.status)],
    produces: media.object,
  };
}

function objectPaths(subject: ResourceSubject): PathDescription[] {
  const { verbs, kind } = subject.resource;
  const suffix = '';
  const operations: Operation[] = [];
  if (verbs.includes('delete')) operations.push(deleteOne(subject));
  if (verbs.includes('get'))
    operations.push(read(subject, { suffix, description: `read the specified ${kind}` }));
  if (verbs.includes('patch'))
    operations.push(patch(subject, { suffix, description: `partially update the specified ${kind}` }));
  if (verbs.includes('update'))
    operations.push(replace(subject, { suffix, description: `replace the specified ${kind}` }));
  if (operations.length === 0) return [];
  return [
    hoisted(`${collectionPath(subject)}/{name}`, operations, pathParameters(subject, subject.resource.kind)),
  ];
}

function deleteOne(subject: ResourceSubject): Operation {
  const { resource, word, scope, media, definition } = subject;
  const { kind } = resource;
  const schema = answersDeletionWithObject.has(kind) ? definition : metaDefinitions.status;
  return {
    ...baseOf(subject, 'delete', 'delete'),
    id: `delete${word}${scope}${kind}`,
    description: `delete ${withArticle(kind)}`,
    parameters: subject.parameters.shared(deleteKeys),
    body: { schema: metaDefinitions.deleteOptions, consumes: media.body, isRequired: false },
    answers: [ok(schema), { code: 202, schema }],
    produces: media.object,
  };
}

/** Kinds whose deletion is answered with the object that was there. */
const answersDeletionWithObject: ReadonlySet<string> = new Set([
  'PersistentVolumeClaim',
  'Pod',
  'PodTemplate',
  'ResourceQuota',
  'ServiceAccount',
  'Service',
  'PersistentVolume',
  'DeviceClass',
  'ResourceClaim',
  'ResourceClaimTemplate',
  'ResourceSlice',
  'CSIDriver',
  'CSINode',
  'StorageClass',
  'VolumeAttachment',
  'VolumeAttributesClass',
]);

import { type BuiltinResource, builtinResources, conversionOf } from '@sheaf/api';
import type { ResourceStores } from '../storage/resource-stores.ts';
import type { TableColumns } from '../table/columns.ts';
import { builtinStrategy } from './builtin-strategy.ts';
import { definitionStrategy } from './custom/definition-strategy.ts';
import { withDeletionTraits } from './deletion-traits.ts';
import type { Resource, Verb } from './resource.ts';

const verbs: readonly Verb[] = [
  'get',
  'list',
  'watch',
  'create',
  'update',
  'patch',
  'delete',
  'deletecollection',
];

/** Every built-in resource, ready to serve. `columnsOf` gives the table of a kind. */
export function makeBuiltinResources(
  stores: ResourceStores,
  columnsOf: (resource: BuiltinResource) => TableColumns,
): Resource[] {
  return builtinResources.map((resource) => makeResource(resource, stores, columnsOf(resource)));
}

const endpointsWarning = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';

function deprecationOf({ group, resource }: BuiltinResource): { deprecationWarning?: string } {
  return group === '' && resource === 'endpoints' ? { deprecationWarning: endpointsWarning } : {};
}

function makeResource(resource: BuiltinResource, stores: ResourceStores, columns: TableColumns): Resource {
  const conversion = conversionOf(resource);
  const { storage } = conversion ?? { storage: resource };
  const strategy = builtinStrategy(resource, conversion);
  const isKept = resource.verbs.includes('get');
  return {
    group: resource.group,
    version: resource.version,
    plural: resource.resource,
    singular: resource.singularName,
    kind: resource.kind,
    listKind: resource.listKind || `${resource.kind}List`,
    namespaced: resource.namespaced,
    shortNames: resource.shortNames,
    categories: resource.categories,
    verbs: verbs.filter((verb) => resource.verbs.includes(verb)),
    isBuiltin: true,
    isStorageVersion: conversion === undefined,
    subresources: new Map(resource.subresources.map((item) => [item.name, item])),
    strategy:
      resource.kind === 'CustomResourceDefinition'
        ? definitionStrategy(strategy)
        : withDeletionTraits(strategy, resource),
    store: isKept ? stores.storeOf(storage.group, resource.resource) : undefined,
    columns,
    ...deprecationOf(resource),
  };
}

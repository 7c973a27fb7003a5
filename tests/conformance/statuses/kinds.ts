import { type ResourceRef, resources } from '@sheaf/client';

const kinds: Readonly<Record<string, ResourceRef>> = {
  ...(resources as unknown as Readonly<Record<string, ResourceRef>>),
  podDisruptionBudgets: {
    group: 'policy',
    version: 'v1',
    plural: 'poddisruptionbudgets',
    kind: 'PodDisruptionBudget',
    namespaced: true,
  },
};

/** A kind of the stories, by its name among the client's resources. */
export function resourceOf(kind: string): ResourceRef {
  const resource = kinds[kind];
  if (!resource) throw new Error(`there is no kind ${kind} for stories`);
  return resource;
}

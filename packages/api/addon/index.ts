import type { KubeObject } from '../meta/object.ts';

export * from './leftovers.ts';

/** What those who take care of add-ons, of charts and of upgrades have to agree on. */

/** On an Addon or HelmChart: a new text in it makes another try of an operation that has failed. */
export const retryAnnotation = 'sheaf.dev/retry';

/** On the Job of a chart: which chart, and which of its states, it is for. */
export const operationAnnotation = 'sheaf.dev/chart-operation';

/**
 * Names what a chart wants now: its UID, the generation of its spec and the try. Two operations are the same if these are equal;
 * times say nothing about it.
 */
export function chartOperation({ metadata }: KubeObject): string {
  const retry = metadata.annotations?.[retryAnnotation];
  return [metadata.uid, metadata.generation, ...(retry === undefined ? [] : [retry])].join('/');
}

/** Of the name of a chart, and of an add-on, in characters: `helm-install-NAME` is a label of pods, which takes 63. */
export const longestChartName = 50;

/** On an Addon: YAML, in base64, that is used while it has no values of its own. */
export const addonDefaultsAnnotation = 'harvesterhci.io/addon-defaults';
/** On an Addon: it may be deleted. */
export const experimentalLabel = 'addon.harvesterhci.io/experimental';

/** What `status.status` of an Addon says. */
export type AddonState =
  | ''
  | 'AddonEnabling'
  | 'AddonDeploySuccessful'
  | 'AddonUpdating'
  | 'AddonDisabling'
  | 'AddonDisabled';

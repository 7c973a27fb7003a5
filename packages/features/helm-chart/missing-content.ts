import type { Waiting } from '@sheaf/api';
import type { HelmChart } from '@sheaf/api/virtualization/index';
import type { MissingContent } from '@sheaf/ports';

/** Nothing is begun for what cannot be had: what that is, who was asked in vain, and how it comes without them. */
export function missingContent(chart: HelmChart, missing: MissingContent): Waiting {
  const { images, unreachable } = missing;
  const parts = [
    ...(missing.chart === undefined ? [] : [`the chart ${missing.chart}, which names its images,`]),
    ...(images.length === 0
      ? []
      : [`${images.length === 1 ? 'the image' : 'the images'} ${images.join(', ')}`]),
  ];
  const verb = parts.length > 1 || images.length > 1 ? 'are' : 'is';
  return {
    reason: 'ContentMissing',
    text: `${parts.join(' and ')} ${verb} not on this host; ${unreachable.join('; ')}`,
    nature: 'fault',
    wayOut: `load a bundle: sheaf bundle load FILE, made where there is a network with: sheaf bundle create FILE ${optionOf(chart)}; or mend the network: it is looked again each minute`,
  };
}

function optionOf({ metadata }: HelmChart): string {
  const isOfAddon = metadata.ownerReferences?.some(({ kind }) => kind === 'Addon') === true;
  return `${isOfAddon ? '--addon' : '--helm-chart'} ${metadata.namespace}/${metadata.name}`;
}

import type { NodeObject } from '@sheaf/api/node/index';
import { isSelectedBy, untoleratedTaint } from '@sheaf/api/placement/index';
import type { Pod, PodTemplateSpec, Toleration } from '@sheaf/api/workload/index';
import { revisionHashLabel } from '../pods/controller-revision.ts';

/** Daemons run also where nothing else does. */
const ownTolerations: readonly (readonly [key: string, effect: string])[] = [
  ['node.kubernetes.io/not-ready', 'NoExecute'],
  ['node.kubernetes.io/unreachable', 'NoExecute'],
  ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
  ['node.kubernetes.io/memory-pressure', 'NoSchedule'],
  ['node.kubernetes.io/pid-pressure', 'NoSchedule'],
  ['node.kubernetes.io/unschedulable', 'NoSchedule'],
];
const networkToleration = ['node.kubernetes.io/network-unavailable', 'NoSchedule'] as const;

/** Whether a node is to have a pod of a template. */
export interface NodeVerdict {
  readonly shouldRun: boolean;
  /** One that is there already may stay. */
  readonly mayStay: boolean;
}

export function judgeNode({ spec }: PodTemplateSpec, node: NodeObject): NodeVerdict {
  const wanted = { ...spec, tolerations: tolerationsOf(spec) };
  const isChosen = (!spec.nodeName || spec.nodeName === node.metadata.name) && isSelectedBy(wanted, node);
  const isKeptOut = untoleratedTaint(wanted, node, ['NoSchedule', 'NoExecute']) !== undefined;
  const isDrivenOut = untoleratedTaint(wanted, node, ['NoExecute']) !== undefined;
  return { shouldRun: isChosen && !isKeptOut, mayStay: isChosen && !isDrivenOut };
}

/** Where a pod is, or is to be. */
export function nodeNameOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const terms =
    spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? [];
  const fields = terms.flatMap(({ matchFields = [] }) => matchFields);
  return fields.find(({ key }) => key === 'metadata.name')?.values?.[0];
}

/** A template for one node. */
export function daemonTemplate(
  template: PodTemplateSpec,
  {
    nodeName,
    revisionHash,
    generation,
  }: { readonly nodeName: string; readonly revisionHash: string; readonly generation: string },
): PodTemplateSpec {
  const { metadata, spec } = template;
  const matchFields = [{ key: 'metadata.name', operator: 'In', values: [nodeName] }];
  const required = { nodeSelectorTerms: [{ matchFields }] };
  const nodeAffinity = {
    ...spec.affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: required,
  };
  return {
    metadata: {
      ...metadata,
      labels: {
        ...metadata?.labels,
        [revisionHashLabel]: revisionHash,
        'pod-template-generation': generation,
      },
    },
    spec: { ...spec, tolerations: tolerationsOf(spec), affinity: { ...spec.affinity, nodeAffinity } },
  };
}

function tolerationsOf(spec: PodTemplateSpec['spec']): readonly Toleration[] {
  const own = spec.hostNetwork ? [...ownTolerations, networkToleration] : ownTolerations;
  const { tolerations = [] } = spec;
  const isThere = (key: string, effect: string): boolean =>
    tolerations.some((each) => each.key === key && each.effect === effect && each.operator === 'Exists');
  const added = own.filter(([key, effect]) => !isThere(key, effect));
  return [...tolerations, ...added.map(([key, effect]) => ({ key, operator: 'Exists', effect }))];
}

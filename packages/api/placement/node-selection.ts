import { type LabelOperator, matchesLabels } from '../meta/selectors.ts';
import type { NodeObject, Taint } from '../node/node.ts';
import type {
  NodeRequirement,
  NodeSelectorTerm,
  PlaceableNoun,
  PlacementSpec,
  Toleration,
} from './placement-spec.ts';

/** Why a node is not for a pod or a machine: in the words of the scheduler, and what can be done. */
export interface Misfit {
  readonly text: string;
  readonly wayOut: string;
}

/** What the node itself is like against what is asked of it, in the order of the scheduler. */
export function nodeMisfitOf(spec: PlacementSpec, node: NodeObject, noun: PlaceableNoun): Misfit | undefined {
  const wanted = { ...spec, noun };
  return cordonOf(wanted, node) ?? taintOf(wanted, node) ?? selectionOf(wanted, node);
}

/** The taint that keeps it out with the given effect; `undefined` if all of them are tolerated. */
export function untoleratedTaint(
  { tolerations }: PlacementSpec,
  { spec }: NodeObject,
  effects: readonly string[],
): Taint | undefined {
  return spec?.taints?.find((taint) => effects.includes(taint.effect) && !isTolerated(taint, tolerations));
}

/** Whether the node is one of those that are selected by labels or by name. */
export function isSelectedBy({ nodeSelector, affinity }: PlacementSpec, { metadata }: NodeObject): boolean {
  const { name = '', labels = {} } = metadata;
  const terms = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const isSelected = Object.entries(nodeSelector ?? {}).every(([key, value]) => labels[key] === value);
  return isSelected && (terms === undefined || terms.some((term) => meets(term, { name, labels })));
}

type Wanted = PlacementSpec & { readonly noun: PlaceableNoun };

/** It can be placed only where a node says that it is what is asked for. */
export function asksOfNodes({ nodeSelector, affinity }: PlacementSpec): boolean {
  const { nodeAffinity, podAffinity } = affinity ?? {};
  const parts = [nodeAffinity, podAffinity].map(
    (part) => part?.requiredDuringSchedulingIgnoredDuringExecution,
  );
  return Object.keys(nodeSelector ?? {}).length > 0 || parts.some((part) => part !== undefined);
}

const cordonTaint: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

function cordonOf({ tolerations, noun }: Wanted, { metadata, spec }: NodeObject): Misfit | undefined {
  if (spec?.unschedulable !== true || isTolerated(cordonTaint, tolerations)) return undefined;
  return {
    text: '1 node(s) were unschedulable',
    wayOut: `to let ${noun}s start: kubectl uncordon ${metadata.name ?? ''}`,
  };
}

/** Room is given out by what machines ask for, so a node that is short of something takes what it has promised. */
const withoutEffect = /^node\.kubernetes\.io\/(?:memory-pressure|disk-pressure|pid-pressure|unschedulable)$/;

function taintOf({ tolerations, noun }: Wanted, { metadata, spec }: NodeObject): Misfit | undefined {
  const keepsOut = ({ key, effect }: Taint): boolean =>
    (effect === 'NoSchedule' || effect === 'NoExecute') && !withoutEffect.test(key);
  const found = spec?.taints?.find((taint) => keepsOut(taint) && !isTolerated(taint, tolerations));
  if (!found) return undefined;
  const { key, value = '', effect } = found;
  return {
    text: `1 node(s) had untolerated taint {${key}: ${value}}`,
    wayOut: `add a toleration to the ${noun}, or take the taint away: kubectl taint node ${metadata.name ?? ''} ${key}:${effect}-`,
  };
}

function isTolerated(taint: Taint, tolerations: readonly Toleration[] | undefined): boolean {
  return tolerations?.some((toleration) => tolerates(toleration, taint)) === true;
}

/** Without a key, or without an effect, it is for all of them. */
function tolerates({ key, effect, ...toleration }: Toleration, taint: Taint): boolean {
  const isFor = (wanted: string | undefined, is: string): boolean => !wanted || wanted === is;
  return isFor(effect, taint.effect) && isFor(key, taint.key) && matchesValue({ key, ...toleration }, taint);
}

function matchesValue({ key, operator, value }: Toleration, taint: Taint): boolean {
  if (operator === 'Exists') return true;
  const isEqual = (value ?? '') === (taint.value ?? '');
  return (!operator || operator === 'Equal') && !!key && isEqual;
}

function selectionOf({ noun, ...spec }: Wanted, node: NodeObject): Misfit | undefined {
  if (isSelectedBy(spec, node)) return undefined;
  const { name = '' } = node.metadata;
  return {
    text: "1 node(s) didn't match Pod's node affinity/selector",
    wayOut: `change nodeSelector or affinity of the ${noun}, or label the node: kubectl label node ${name} KEY=VALUE`,
  };
}

interface NodeFace {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

function meets(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { name, labels }: NodeFace,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const expressions = matchExpressions.filter(({ key }) => !isWrittenByHarvester(key));
  return (
    expressions.every((each) => holds(each, labels)) &&
    matchFields.every((each) => holds(each, { 'metadata.name': name }))
  );
}

/** What Harvester adds by itself for networks and dedicated processors: whether those are there is looked at directly. */
function isWrittenByHarvester(key: string): boolean {
  return key.startsWith('network.harvesterhci.io/') || key === 'cpumanager';
}

const operators: Readonly<Record<string, LabelOperator>> = {
  In: 'in',
  NotIn: 'notin',
  Exists: 'exists',
  DoesNotExist: '!',
  Gt: 'gt',
  Lt: 'lt',
};

/** An operator that is unknown matches nothing. */
function holds({ key, operator, values = [] }: NodeRequirement, labels: NodeFace['labels']): boolean {
  const known = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
  return known !== undefined && matchesLabels([{ key, operator: known, values }], labels);
}

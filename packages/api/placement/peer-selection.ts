import { StatusError } from '@sheaf/base';
import { type LabelMatcher, type LabelSelector, labelMatcherOf, matchesLabels } from '../meta/selectors.ts';
import type { NodeObject } from '../node/node.ts';
import type { Misfit } from './node-selection.ts';
import type { Affinity, PeerTerm, Placeable, PlaceableNoun, SpreadConstraint } from './placement-spec.ts';

type Labels = Readonly<Record<string, string>>;

export interface PeerFacts {
  readonly node: NodeObject;
  /** Those that have a place on the node, without the one in question. */
  readonly peers: readonly Placeable[];
  readonly labelsOfNamespace: (name: string) => Labels;
  readonly noun: PlaceableNoun;
}

/** What is on the node already against what is asked of its company, in the order of the scheduler. */
export function peerMisfitOf(instance: Placeable, facts: PeerFacts): Misfit | undefined {
  return spreadOf(instance, facts) ?? companyOf(instance, facts);
}

function spreadOf(instance: Placeable, { node, peers, noun }: PeerFacts): Misfit | undefined {
  const { namespace } = instance.metadata;
  const near = peers.filter(({ metadata }) => metadata.namespace === namespace);
  const constraints = (instance.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule',
  );
  const text = "1 node(s) didn't match pod topology spread constraints";
  const wayOut = `change topologySpreadConstraints of the ${noun}`;
  if (constraints.some(({ topologyKey }) => !hasLabel(node, topologyKey)))
    return { text: `${text} (missing required label)`, wayOut: `${wayOut}, or label the node` };
  return constraints.every((each) => isEven(each, instance, near)) ? undefined : { text, wayOut };
}

/** With one node there is one domain, so only a wish for more of them can be hurt. */
function isEven(
  { labelSelector, maxSkew, minDomains = 1 }: SpreadConstraint,
  instance: Placeable,
  near: readonly Placeable[],
): boolean {
  const matcher = matcherOf(labelSelector);
  const count = near.filter((each) => matchesLabels(matcher, labelsOf(each))).length;
  const least = minDomains > 1 ? 0 : count;
  return count + Number(matchesLabels(matcher, labelsOf(instance))) - least <= maxSkew;
}

function companyOf(instance: Placeable, facts: PeerFacts): Misfit | undefined {
  const { node, peers, noun } = facts;
  const wanted = termsOf(instance, 'podAffinity');
  const isWith = (each: Placeable): boolean =>
    wanted.every((term) => isMeant(term, { from: instance, to: each, facts }));
  const isPlaced = wanted.every(({ topologyKey }) => hasLabel(node, topologyKey));
  // The first of its kind has no company yet.
  if (!isPlaced || !(peers.some(isWith) || isWith(instance)))
    return refusal({ text: "1 node(s) didn't match pod affinity rules", field: 'podAffinity', noun });
  const avoids = (one: Placeable, other: Placeable): boolean =>
    termsOf(one, 'podAntiAffinity').some(
      (term) => hasLabel(node, term.topologyKey) && isMeant(term, { from: one, to: other, facts }),
    );
  const avoided = peers.find((peer) => avoids(instance, peer));
  if (avoided)
    return refusal(
      { text: "1 node(s) didn't match pod anti-affinity rules", field: 'podAntiAffinity', noun },
      avoided,
    );
  const avoiding = peers.find((peer) => avoids(peer, instance));
  return (
    avoiding &&
    refusal(
      { text: "1 node(s) didn't satisfy existing pods anti-affinity rules", field: 'podAntiAffinity', noun },
      avoiding,
    )
  );
}

interface Refusal {
  readonly text: string;
  readonly field: keyof Affinity;
  readonly noun: PlaceableNoun;
}

function refusal({ text, field, noun }: Refusal, by?: Placeable): Misfit {
  if (!by) return { text, wayOut: `change affinity.${field} of the ${noun}, or start the ${noun}s it names` };
  const { namespace = '', name = '' } = by.metadata;
  return {
    text: `${text} (${namespace}/${name})`,
    wayOut: `stop ${namespace}/${name}, or change affinity.${field} of the ${noun}s`,
  };
}

function termsOf({ spec }: Placeable, field: 'podAffinity' | 'podAntiAffinity'): readonly PeerTerm[] {
  return spec.affinity?.[field]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
}

interface Relation {
  readonly from: Placeable;
  readonly to: Placeable;
  readonly facts: PeerFacts;
}

function isMeant({ labelSelector, ...where }: PeerTerm, { from, to, facts }: Relation): boolean {
  const { namespace = '' } = to.metadata;
  const { namespaces = [], namespaceSelector } = where;
  const isOwn = namespaces.length === 0 && namespaceSelector === undefined;
  const isThere = isOwn
    ? namespace === from.metadata.namespace
    : namespaces.includes(namespace) ||
      matchesLabels(matcherOf(namespaceSelector), facts.labelsOfNamespace(namespace));
  return isThere && matchesLabels(matcherOf(labelSelector), labelsOf(to));
}

function labelsOf({ metadata }: Placeable): Labels {
  return metadata.labels ?? {};
}

function hasLabel({ metadata }: NodeObject, key: string): boolean {
  return metadata.labels !== undefined && Object.hasOwn(metadata.labels, key);
}

/** A selector that breaks the rules matches nothing. */
function matcherOf(selector: LabelSelector | undefined): LabelMatcher {
  try {
    return labelMatcherOf(selector);
  } catch (error) {
    if (!StatusError.is(error, 'BadRequest')) throw error;
    return null;
  }
}

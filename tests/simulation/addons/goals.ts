import type { Addon } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { keyOf } from '@sheaf/runtime';
import type { Objects } from '../objects.ts';
import type { HelmWorld } from './helm-world.ts';
import { addonNames } from './kinds.ts';

export interface GoalFacts {
  readonly objects: Objects;
  readonly world: HelmWorld;
}

/** What add-ons still owe when faults have stopped: each is what it says, or names its fault and the way out. */
export function findComplaints({ objects, world }: GoalFacts): readonly string[] {
  const complaints: string[] = [];
  for (const addon of objects.all(resources.addons)) {
    const complaint = complaintOf(addon, { objects, world });
    if (complaint !== undefined) complaints.push(`add-on ${addon.metadata.name}: ${complaint}`);
  }
  const owners = new Set(objects.all(resources.addons).map(({ metadata }) => metadata.name));
  for (const { metadata } of objects.all(resources.helmCharts))
    if (!owners.has(metadata.name)) complaints.push(`chart ${metadata.name} has no add-on`);
  return complaints;
}

function complaintOf(addon: Addon, facts: GoalFacts): string | undefined {
  if (isNamedFault(addon)) return undefined;
  return addon.spec.enabled ? missingOf(addon, facts) : leftOf(addon, facts);
}

function leftOf(addon: Addon, { world }: GoalFacts): string | undefined {
  const state = addon.status?.status ?? '';
  if (state !== 'AddonDisabled') return `is to be off, and is ${state} ${wordsOf(addon)}`;
  const release = world.releases.get(keyOf(addon));
  return release && `is off, and its release is ${release.status}`;
}

function missingOf(addon: Addon, { objects, world }: GoalFacts): string | undefined {
  const state = addon.status?.status ?? '';
  if (state !== 'AddonDeploySuccessful') return `is to be on, and is ${state} ${wordsOf(addon)}`;
  const release = world.releases.get(keyOf(addon));
  if (release?.status !== 'deployed')
    return `says that it is deployed, and its release is ${release?.status}`;
  const values = valuesOf(objects, addon);
  const wanted = addon.spec.valuesContent;
  return values === wanted ? undefined : `has the values ${values}, not ${wanted}`;
}

function valuesOf(objects: Objects, { metadata }: Addon): string | undefined {
  const chart = objects.all(resources.helmCharts).find((each) => each.metadata.name === metadata.name);
  return chart && (chart.spec?.valuesContent ?? '');
}

/** And has given up: what is still being tried is to come to its end. */
function isNamedFault({ status }: Addon): boolean {
  const find = (type: string) => status?.conditions?.find((condition) => condition.type === type);
  const failed = find('OperationFailed');
  const isNamed = failed?.status === 'True' && failed.message?.includes('needs someone: ') === true;
  return isNamed && find('InProgress')?.status === 'False';
}

function wordsOf({ status }: Addon): string {
  return JSON.stringify(
    status?.conditions?.map(({ type, status: is, message }) => [type, is, message]) ?? [],
  );
}

/** What is left when all of them are off. */
export function findRemains({ objects, world }: GoalFacts): readonly string[] {
  const isOn = (addon: Addon): boolean => addon.status?.status !== 'AddonDisabled';
  const kinds = [
    resources.helmCharts,
    resources.jobs,
    resources.pods,
    resources.secrets,
    resources.configMaps,
    resources.serviceAccounts,
    resources.clusterRoleBindings,
  ];
  const owned = kinds.flatMap((kind) =>
    objects
      .all(kind)
      .filter(({ metadata }) => addonNames.some((name) => metadata.name?.includes(name)))
      .map(({ metadata }) => `${kind.kind} ${metadata.name} is left`),
  );
  return [
    ...objects
      .all(resources.addons)
      .filter(isOn)
      .map((addon) => `${addon.metadata.name} is not off ${wordsOf(addon)}`),
    ...owned,
    ...[...world.releases.keys()].map((name) => `the release ${name} is left`),
  ];
}

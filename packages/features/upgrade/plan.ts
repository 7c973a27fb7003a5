import { firstChecks } from './checks.ts';
import type { Check, CheckFacts, Obstacle } from './obstacle.ts';
import { stateChecks } from './state-checks.ts';

/** With it, only what an upgrade cannot do without is looked at. */
const bypassAnnotation = 'harvesterhci.io/skipWebhook';

/** The first thing that stands in the way of an upgrade; `undefined`: nothing does. */
export function planGate(facts: CheckFacts): Obstacle | undefined {
  const isBypassed = facts.upgrade.metadata.annotations?.[bypassAnnotation] === 'true';
  return first(firstChecks, facts) ?? (isBypassed ? undefined : first(stateChecks, facts));
}

function first(checks: readonly Check[], facts: CheckFacts): Obstacle | undefined {
  return checks.map((check) => check(facts)).find((obstacle) => obstacle !== undefined);
}

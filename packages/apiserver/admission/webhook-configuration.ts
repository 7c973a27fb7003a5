import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { compileConditions, conditionEnvironment, type MatchCondition } from './match-conditions.ts';
import { integerAt, objectAt, objectsAt, textAt, textsAt } from './object-field.ts';
import { compileRule, type ResourceRule } from './resource-rules.ts';
import { compileSelection, type Selection } from './scope-selectors.ts';

/** One webhook of a configuration, ready to be matched and called. */
export interface Webhook {
  /** Of the configuration. */
  readonly configuration: string;
  /** Unique among all webhooks. */
  readonly id: string;
  readonly name: string;
  readonly rules: readonly ResourceRule[];
  /** Whether requests in other versions of the same objects match too. */
  readonly matchesEquivalents: boolean;
  readonly namespaces: Selection;
  readonly objects: Selection;
  readonly conditions: readonly MatchCondition[];
  readonly ignoresFailures: boolean;
  readonly hasSideEffects: boolean;
  readonly isReinvocable: boolean;
  readonly timeoutSeconds: number;
  /** The first review version that both sides know; `undefined`: there is none. */
  readonly reviewVersion: string | undefined;
  readonly clientConfig: JsonObject;
}

const knownVersions: ReadonlySet<string> = new Set(['v1', 'v1beta1']);
const harmless: ReadonlySet<string> = new Set(['None', 'NoneOnDryRun']);

export function compileWebhooks(configuration: KubeObject): readonly Webhook[] {
  const name = configuration.metadata.name ?? '';
  return objectsAt(configuration, 'webhooks').map((webhook, index) =>
    compileWebhook(webhook, name, `${name}/${textAt(webhook, 'name')}/${index}`),
  );
}

function compileWebhook(webhook: JsonObject, configuration: string, id: string): Webhook {
  return {
    configuration,
    id,
    name: textAt(webhook, 'name'),
    rules: objectsAt(webhook, 'rules').map(compileRule),
    matchesEquivalents: textAt(webhook, 'matchPolicy') !== 'Exact',
    namespaces: compileSelection(webhook['namespaceSelector']),
    objects: compileSelection(webhook['objectSelector']),
    conditions: compileConditions(webhook, conditionEnvironment()),
    ignoresFailures: textAt(webhook, 'failurePolicy') === 'Ignore',
    hasSideEffects: !harmless.has(textAt(webhook, 'sideEffects')),
    isReinvocable: textAt(webhook, 'reinvocationPolicy') === 'IfNeeded',
    timeoutSeconds: integerAt(webhook, 'timeoutSeconds') || 10,
    reviewVersion: textsAt(webhook, 'admissionReviewVersions').find((version) => knownVersions.has(version)),
    clientConfig: objectAt(webhook, 'clientConfig'),
  };
}

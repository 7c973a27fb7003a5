/** What Helm writes down of a hook with a revision. */
export interface StoredHook {
  readonly kind?: string;
  readonly name?: string;
  readonly manifest?: string;
  readonly delete_policies?: readonly string[];
  readonly last_run?: { readonly phase?: string };
}

const sayAfter: Readonly<Record<string, readonly string[]>> = {
  Succeeded: ['hook-succeeded'],
  Failed: ['hook-failed'],
  // It has been begun, and how it ends Helm has not seen.
  Running: ['hook-succeeded', 'hook-failed'],
  Unknown: ['hook-succeeded', 'hook-failed'],
};

/**
 * The hooks of a revision that Helm would not have left had it not been cut off: whose policy says that they go as they have ended, or go
 * when they end. A Job or a Pod that has not ended goes in any case: nobody waits for it any more. What has ended and is kept by its
 * policy stays, and so do definitions, as Helm does it.
 */
export function unfinishedHooks(hooks: readonly StoredHook[]): readonly StoredHook[] {
  return hooks.filter((hook) => hook.kind !== 'CustomResourceDefinition' && (isAtWork(hook) || mayGo(hook)));
}

function isAtWork({ kind, last_run: { phase } = {} }: StoredHook): boolean {
  return (kind === 'Job' || kind === 'Pod') && (phase === 'Running' || phase === 'Unknown');
}

function mayGo({ delete_policies: policies = [], last_run: { phase = '' } = {} }: StoredHook): boolean {
  return sayAfter[phase]?.some((policy) => policies.includes(policy)) === true;
}

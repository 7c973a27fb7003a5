import type { AuthorizationAttributes, AuthorizationDecision, Authorizer } from './attributes.ts';

/**
 * Asks the authorizers in order; the first that allows or denies decides. If none does, the answer is `no-opinion` with
 * all reasons, and the request is refused. Stays synchronous as long as the authorizers are.
 */
export function authorizerUnion(authorizers: readonly Authorizer[]): Authorizer {
  return {
    authorize(attributes, signal) {
      const collected = new Collected();
      for (const [index, authorizer] of authorizers.entries()) {
        const decision = authorizer.authorize(attributes, signal);
        if (decision instanceof Promise)
          return continueLater(decision, authorizers.slice(index + 1), { collected, attributes, signal });
        if (decision.decision !== 'no-opinion') return decision;
        collected.add(decision);
      }
      return collected.refusal();
    },
  };
}

class Collected {
  readonly #reasons: string[] = [];
  readonly #errors: string[] = [];

  add(decision: AuthorizationDecision): void {
    if (decision.reason !== '') this.#reasons.push(decision.reason);
    if (decision.evaluationError !== undefined) this.#errors.push(decision.evaluationError);
  }

  refusal(): AuthorizationDecision {
    const reason = this.#reasons.join('\n');
    if (this.#errors.length === 0) return { decision: 'no-opinion', reason };
    return { decision: 'no-opinion', reason, evaluationError: this.#errors.join('; ') };
  }
}

interface Continuation {
  readonly collected: Collected;
  readonly attributes: AuthorizationAttributes;
  readonly signal: AbortSignal | undefined;
}

async function continueLater(
  pending: Promise<AuthorizationDecision>,
  rest: readonly Authorizer[],
  { collected, attributes, signal }: Continuation,
): Promise<AuthorizationDecision> {
  let decision = await pending;
  for (const authorizer of rest) {
    if (decision.decision !== 'no-opinion') return decision;
    collected.add(decision);
    decision = await authorizer.authorize(attributes, signal);
  }
  if (decision.decision !== 'no-opinion') return decision;
  collected.add(decision);
  return collected.refusal();
}

const privilegedAllow: AuthorizationDecision = { decision: 'allow', reason: '' };
const privilegedPass: AuthorizationDecision = { decision: 'no-opinion', reason: '' };

/** Allows everything to members of `system:masters`; has no opinion on others. */
export const privilegedGroupAuthorizer: Authorizer = {
  authorize(attributes) {
    return attributes.user.groups.includes('system:masters') ? privilegedAllow : privilegedPass;
  },
};

/** Liveness and discovery of the server's own health: open to everyone, as upstream's `--authorization-always-allow-paths`. */
export function alwaysAllowPaths(paths: readonly string[] = ['/healthz', '/readyz', '/livez']): Authorizer {
  const open = new Set(paths);
  return {
    authorize: (attributes) =>
      !attributes.isResource && open.has(attributes.path) ? privilegedAllow : privilegedPass,
  };
}

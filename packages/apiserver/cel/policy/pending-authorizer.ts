import type {
  AuthorizationAttributes,
  AuthorizationDecision,
  Authorizer,
} from '../../authorization/attributes.ts';
import type { DecisionSource } from '../library/authorizer.ts';

/** Ends an evaluation that has to wait for an answer. No operator of CEL absorbs it. */
class AnswerPending extends Error {
  readonly key: string;
  readonly answer: Promise<AuthorizationDecision>;

  constructor(key: string, answer: Promise<AuthorizationDecision>) {
    super('authorization is pending');
    this.key = key;
    this.answer = answer;
  }
}

/** More questions than any cost limit pays for. */
const maxQuestions = 100;

/**
 * Lets expressions, which cannot wait, ask an authorizer that may. An evaluation that meets an open question is
 * repeated when the answer is there; each question is asked once.
 */
export class AuthorizationMemory implements DecisionSource {
  readonly #authorizer: Authorizer;
  readonly #signal: AbortSignal | undefined;
  readonly #answers = new Map<string, AuthorizationDecision>();

  constructor(authorizer: Authorizer, signal?: AbortSignal) {
    this.#authorizer = authorizer;
    this.#signal = signal;
  }

  decide(attributes: AuthorizationAttributes): AuthorizationDecision {
    const key = JSON.stringify(attributes);
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#authorizer.authorize(attributes, this.#signal);
    if (answer instanceof Promise) throw new AnswerPending(key, answer);
    this.#answers.set(key, answer);
    return answer;
  }

  /** Runs `evaluate`, again after each answer it had to wait for. Rejects if an answer cannot be had. */
  async settle<T>(evaluate: () => T): Promise<T> {
    for (let question = 0; question < maxQuestions; question++) {
      try {
        return evaluate();
      } catch (error) {
        if (!(error instanceof AnswerPending)) throw error;
        this.#answers.set(error.key, await error.answer);
      }
    }
    throw new Error(`an expression asked the authorizer more than ${maxQuestions} times`);
  }
}

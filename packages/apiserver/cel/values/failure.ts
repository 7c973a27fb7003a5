/**
 * An error of evaluation, e.g. `no such key: a`. The logical operators absorb it. It is made without a stack trace:
 * an expression may raise and absorb one for each element of a list.
 */
export class EvaluationFailure extends Error {}

/** Evaluation was ended: no operator absorbs this. */
export class EvaluationCancelled extends Error {
  override readonly name = 'EvaluationCancelled';
}

export const costLimitMessage = 'operation cancelled: actual cost limit exceeded';

export function failure(message: string): EvaluationFailure {
  const made = Object.create(EvaluationFailure.prototype) as EvaluationFailure;
  made.message = message;
  return made;
}

export function noSuchOverload(): EvaluationFailure {
  return failure('no such overload');
}

import { check } from './checker/check.ts';
import type { CheckedExpression, Declarations } from './checker/context.ts';
import { type CelType, dynType } from './checker/type.ts';
import { compileChecked } from './evaluator/compile.ts';
import { Frame } from './evaluator/frame.ts';
import { formatIssues } from './syntax/issues.ts';
import { parse } from './syntax/parser.ts';
import { EvaluationCancelled, EvaluationFailure } from './values/failure.ts';
import type { Value } from './values/value.ts';

/** Units one expression may cost at run time. */
export const perCallLimit = 1_000_000;
/** Units all expressions over one object, or one policy's, may cost together. */
export const runtimeBudget = 10_000_000;
/** Units the match conditions of one webhook or policy may cost together. */
export const matchConditionsBudget = 2_500_000;

/** The outcome of one evaluation. `cost` is what it has cost in any case. */
export type Outcome =
  | { readonly ok: true; readonly value: Value; readonly cost: number }
  /** `isCancelled`: the cost limit was reached. */
  | { readonly ok: false; readonly message: string; readonly isCancelled: boolean; readonly cost: number };

/** An expression that can be evaluated any number of times. */
export interface CompiledExpression {
  readonly source: string;
  readonly resultType: CelType;
  readonly checked: CheckedExpression;
  /** Whether it names the variable. */
  uses(variable: string): boolean;
  /** Evaluates with the values of the environment's variables, in their order. Never throws an error of CEL. */
  run(variables: readonly Value[], costLimit?: number): Outcome;
}

/** `compiled`, or what is wrong with the source, as cel-go words it. */
export type Compilation =
  | {
      readonly compiled: CompiledExpression;
      readonly error?: undefined;
      readonly isInstantiation?: undefined;
    }
  /** `isInstantiation`: the expression is right, but a constant part of it cannot be computed. */
  | { readonly compiled?: undefined; readonly error: string; readonly isInstantiation?: boolean | undefined };

/** Parses, checks and compiles an expression. Never throws. */
export function compileExpression(source: string, declarations: Declarations): Compilation {
  const parsed = parse(source);
  if ('issues' in parsed) return { error: formatIssues(source, parsed.issues) };
  const checked = check(parsed.root, declarations);
  if ('issues' in checked) return { error: formatIssues(source, checked.issues) };
  try {
    return { compiled: makeExpression(source, checked) };
  } catch (error) {
    if (error instanceof EvaluationFailure) return { error: error.message, isInstantiation: true };
    throw error;
  }
}

function makeExpression(source: string, checked: CheckedExpression): CompiledExpression {
  const evaluate = compileChecked(checked);
  const { slotCount } = checked;
  return {
    source,
    resultType: checked.types[checked.root.id] ?? dynType,
    checked,
    uses: (variable) => checked.used.has(variable),
    run: (variables, costLimit = perCallLimit) => {
      const slots = variables.slice();
      if (slotCount > slots.length) slots.length = slotCount;
      const frame = new Frame(slots, costLimit);
      try {
        return { ok: true, value: evaluate(frame), cost: frame.cost };
      } catch (error) {
        return failed(error, frame.cost);
      }
    },
  };
}

function failed(error: unknown, cost: number): Outcome {
  if (error instanceof EvaluationFailure)
    return { ok: false, message: error.message, isCancelled: false, cost };
  if (error instanceof EvaluationCancelled)
    return { ok: false, message: error.message, isCancelled: true, cost };
  // Deeply nested data can exhaust the stack; that is the expression's fault, not the server's.
  if (error instanceof RangeError)
    return { ok: false, message: `evaluation ended: ${error.message}`, isCancelled: true, cost };
  throw error;
}

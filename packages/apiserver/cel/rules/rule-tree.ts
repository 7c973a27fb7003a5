import type { ValidationRule } from '@sheaf/api';
import type { CompiledExpression } from '../expression.ts';
import type { DeclaredType } from '../schema/declared-type.ts';

/** One rule of a schema, ready to run. */
export interface CompiledRule {
  readonly rule: ValidationRule;
  /** `undefined` if the rule did not compile; `error` says why. */
  readonly expression: CompiledExpression | undefined;
  readonly error: string | undefined;
  readonly messageExpression: CompiledExpression | undefined;
  readonly usesOldSelf: boolean;
  /** `fieldPath` in the notation of field errors, e.g. `spec.replicas`. */
  readonly fieldPath: string | undefined;
}

/** The rules of a schema and of everything below it; parts without rules are left out. */
export interface RuleTree {
  readonly rules: readonly CompiledRule[];
  readonly declared: DeclaredType;
  /** The `type` of the schema, which upstream shows in place of the value when a rule cannot be evaluated. */
  readonly schemaType: string;
  readonly properties: ReadonlyMap<string, RuleTree>;
  readonly items: RuleTree | undefined;
  readonly additionalProperties: RuleTree | undefined;
  readonly allOf: readonly RuleTree[];
  /** The keys of a list of type `map`; other lists have no old elements to compare with. */
  readonly listKeys: readonly string[] | undefined;
}

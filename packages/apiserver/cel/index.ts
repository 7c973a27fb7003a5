export type { CheckedExpression, Declarations } from './checker/context.ts';
export * from './checker/type.ts';
export { type EnvironmentOptions } from './environment.ts';
export * from './expression.ts';
export type { DecisionSource } from './library/authorizer.ts';
export { AuthorizationMemory } from './policy/pending-authorizer.ts';
export {
  type PolicyCompilation,
  PolicyEnvironment,
  type PolicyEnvironmentOptions,
  type PolicyVariable,
} from './policy/policy-environment.ts';
export { type PolicyAuthorizer, type PolicyInput, PolicyRun } from './policy/policy-run.ts';
export { applyObjectType, jsonPatchType } from './policy/policy-types.ts';
export { type CompiledRules, compileSchemaRules } from './rules/compile-rules.ts';
export type { CompiledRule, RuleTree } from './rules/rule-tree.ts';
export { type RuleBudget, type RuleRequest, validateRules } from './rules/validate-rules.ts';
export { type DeclaredType } from './schema/declared-type.ts';
export { toJson } from './values/to-json.ts';
export * from './values/value.ts';

import type { Declarations } from '../checker/context.ts';
import { type CelType, dynType, formatType, objectType } from '../checker/type.ts';
import { createEnvironment } from '../environment.ts';
import { type CompiledExpression, compileExpression } from '../expression.ts';
import { authorizerType, resourceCheckType } from '../library/authorizer.ts';
import { mutationTypes, namespaceType, requestType } from './policy-types.ts';

export interface PolicyEnvironmentOptions {
  /** Declares `params`. */
  readonly hasParams?: boolean;
  /** Declares `authorizer` and `authorizer.requestResource`. */
  readonly hasAuthorizer?: boolean;
  /** Declares `namespaceObject` and `variables`; not for match conditions. */
  readonly isPolicy?: boolean;
  /** Lets expressions write `Object{…}` and `JSONPatch{…}`. */
  readonly isMutation?: boolean;
}

/** A named expression of a policy. */
export interface PolicyVariable {
  readonly name: string;
  readonly expression: CompiledExpression;
}

/** What is wrong with an expression, e.g. `compilation failed: ERROR: …` or `must evaluate to bool`. */
export type PolicyCompilation =
  | { readonly compiled: CompiledExpression; readonly error?: undefined }
  | { readonly compiled?: undefined; readonly error: string };

/** The names of the variables of every policy expression, in the order of their values. */
export const policyVariableNames = [
  'object',
  'oldObject',
  'request',
  'params',
  'namespaceObject',
  'authorizer',
  'authorizer.requestResource',
  'variables',
] as const;

export type PolicyVariableName = (typeof policyVariableNames)[number];

/**
 * Compiles the expressions of one policy, webhook or binding. Variables are added in their order; each sees those before
 * it.
 */
export class PolicyEnvironment {
  readonly #options: PolicyEnvironmentOptions;
  readonly #types = new Map<string, CelType>();
  readonly #variables: PolicyVariable[] = [];
  readonly #structType: ((name: string) => CelType | undefined) | undefined;
  #declarations: Declarations | undefined;

  constructor(options: PolicyEnvironmentOptions) {
    this.#options = options;
    this.#structType = options.isMutation ? mutationTypes() : undefined;
  }

  get variables(): readonly PolicyVariable[] {
    return this.#variables;
  }

  /** `allowed`: the types that the result may have; any if empty. */
  compile(source: string, allowed: readonly CelType[] = []): PolicyCompilation {
    this.#declarations ??= this.#declare();
    const { compiled, error, isInstantiation } = compileExpression(source, this.#declarations);
    if (!compiled)
      return { error: `${isInstantiation ? 'program instantiation' : 'compilation'} failed: ${error}` };
    const { resultType } = compiled;
    const isAllowed = allowed.some((type) => formatType(type) === formatType(resultType));
    if (allowed.length === 0 || isAllowed) return { compiled };
    const names = allowed.map(formatType);
    const expected = names.length === 1 ? names[0] : `one of [${names.join(' ')}]`;
    return { error: `must evaluate to ${expected} but got ${formatType(resultType)}` };
  }

  /** Adds `variables.NAME`. */
  addVariable(name: string, source: string): PolicyCompilation {
    const result = this.compile(source);
    this.#types.set(name, result.compiled?.resultType ?? dynType);
    if (result.compiled) this.#variables.push({ name, expression: result.compiled });
    this.#declarations = undefined;
    return result;
  }

  #declare(): Declarations {
    const { hasParams, hasAuthorizer, isPolicy, isMutation } = this.#options;
    const types: Readonly<Record<PolicyVariableName, CelType | undefined>> = {
      object: dynType,
      oldObject: dynType,
      request: requestType,
      params: hasParams ? dynType : undefined,
      namespaceObject: isPolicy ? namespaceType : undefined,
      authorizer: hasAuthorizer ? authorizerType : undefined,
      'authorizer.requestResource': hasAuthorizer ? resourceCheckType : undefined,
      variables: isPolicy ? objectType('kubernetes.variables', new Map(this.#types)) : undefined,
    };
    // A name with a space cannot be written: it only keeps the place of the value.
    const variables = new Map(
      policyVariableNames.map((name) => [types[name] ? name : `no ${name}`, types[name] ?? dynType]),
    );
    const base = { variables, hasJsonPatch: isMutation === true };
    return createEnvironment(this.#structType ? { ...base, structType: this.#structType } : base);
  }
}

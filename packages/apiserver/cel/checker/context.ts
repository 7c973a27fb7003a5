import type { FunctionTable, Overload } from '../library/overload.ts';
import type { Expression } from '../syntax/ast.ts';
import type { Issue } from '../syntax/issues.ts';
import type { TypeValue } from '../values/value.ts';
import { type CelType, errorType, formatType } from './type.ts';
import { Substitution } from './unify.ts';

/** What an expression may name. Made once, used for many expressions. */
export interface Declarations {
  /** In the order in which their values are handed to the evaluator. */
  readonly variables: ReadonlyMap<string, CelType>;
  readonly functions: FunctionTable;
  /** Names that stand for a type, e.g. `int`, `google.protobuf.Duration`. */
  readonly typeNames: ReadonlyMap<string, CelType<TypeValue>>;
  /** Types that can be written as `Name{field: value}`. `undefined` for a name that is none. */
  readonly structType: (name: string) => CelType | undefined;
}

/** What the checker found out, by node id. */
export interface CheckedExpression {
  readonly root: Expression;
  readonly types: readonly CelType[];
  /** Identifiers: the slot of the variable. Comprehensions and optMap: the slot of their first variable. */
  readonly slots: readonly (number | undefined)[];
  /** Function calls: the overloads that may apply. */
  readonly overloads: readonly (readonly Overload[] | undefined)[];
  /** Nodes that name a type. */
  readonly typeNames: ReadonlyMap<number, string>;
  readonly slotCount: number;
  /** Names of the declared variables that are used. */
  readonly used: ReadonlySet<string>;
}

interface Binding {
  readonly type: CelType;
  readonly slot: number;
}

/** The state of checking one expression. */
export class CheckContext {
  readonly declarations: Declarations;
  readonly substitution = new Substitution();
  readonly types: CelType[] = [];
  readonly slots: (number | undefined)[] = [];
  readonly overloads: (readonly Overload[] | undefined)[] = [];
  readonly typeNames = new Map<number, string>();
  readonly issues: Issue[] = [];
  readonly used = new Set<string>();
  slotCount: number;
  #scope = new Map<string, Binding>();

  /** Checks a node and those below it, sets its type and returns it. */
  readonly check: (node: Expression) => CelType;

  constructor(declarations: Declarations, checkNode: (context: CheckContext, node: Expression) => CelType) {
    this.declarations = declarations;
    this.check = (node) => checkNode(this, node);
    let slot = 0;
    for (const [name, type] of declarations.variables) this.#scope.set(name, { type, slot: slot++ });
    this.slotCount = slot;
  }

  find(name: string): Binding | undefined {
    const binding = this.#scope.get(name);
    if (binding && binding.slot < this.declarations.variables.size) this.used.add(name);
    return binding;
  }

  /** Runs `task` with more variables; returns the slot of the first. */
  withVariables(variables: readonly (readonly [string, CelType])[], task: () => void): number {
    const outer = this.#scope;
    const first = this.slotCount;
    this.#scope = new Map(outer);
    for (const [name, type] of variables) this.#scope.set(name, { type, slot: this.slotCount++ });
    task();
    this.#scope = outer;
    return first;
  }

  set(node: Expression, type: CelType): CelType {
    this.types[node.id] = type;
    return type;
  }

  /** The type of a checked node, as far as it is known. */
  typeOf(node: Expression): CelType {
    return this.substitution.resolve(this.types[node.id] ?? errorType);
  }

  report(offset: number, message: string): void {
    this.issues.push({ offset, message });
  }

  mismatch(offset: number, expected: CelType, actual: CelType): void {
    const [wanted, found] = [expected, actual].map((type) => formatType(this.substitution.resolve(type)));
    this.report(offset, `expected type '${wanted}' but found '${found}'`);
  }
}

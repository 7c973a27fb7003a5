import { relative, sep } from 'node:path';

/** The part of a syntax tree node (ESTree) that the rules of the house read. */
export interface Node {
  readonly type: string;
  readonly parent?: Node;
  readonly name?: string;
  readonly value?: unknown;
  readonly source?: Node | null;
  readonly accessibility?: string | null;
  readonly computed?: boolean;
  readonly object?: Node;
  readonly property?: Node;
  readonly callee?: Node;
  readonly arguments?: readonly Node[];
  readonly imported?: Node;
  readonly specifiers?: readonly Node[];
  readonly declarations?: readonly Node[];
  readonly declaration?: Node | null;
  readonly id?: Node;
  readonly init?: Node | null;
  readonly kind?: string;
  readonly typeAnnotation?: Node | null;
  readonly body?: readonly Node[];
}

interface Reference {
  readonly identifier: Node;
}

interface Scope {
  readonly through: readonly Reference[];
  readonly variables: readonly {
    readonly defs: readonly unknown[];
    readonly references: readonly Reference[];
  }[];
}

export interface RuleContext {
  readonly filename: string;
  readonly cwd: string;
  readonly sourceCode: { readonly scopeManager: { readonly globalScope: Scope } };
  report(problem: { readonly node: Node; readonly message: string }): void;
}

export interface Rule {
  create(context: RuleContext): Readonly<Record<string, (node: Node) => void>>;
}

/** The linted file as a path from the root of the checkout, with `/`. */
export function fileOf(context: RuleContext): string {
  return relative(context.cwd, context.filename).split(sep).join('/');
}

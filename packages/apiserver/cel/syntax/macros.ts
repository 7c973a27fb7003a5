import type { Call, Comprehension, ComprehensionMacro, Expression } from './ast.ts';
import { SyntaxFailure } from './issues.ts';

type Shape = 'predicate' | 'transform' | 'filterTransform';

interface MacroForm {
  readonly macro: ComprehensionMacro;
  readonly variables: number;
  readonly shape: Shape;
}

/** Macro calls by name and number of arguments; a name with another number of arguments is an ordinary method. */
const forms: Readonly<Record<string, MacroForm>> = {
  'all/2': { macro: 'all', variables: 1, shape: 'predicate' },
  'exists/2': { macro: 'exists', variables: 1, shape: 'predicate' },
  'exists_one/2': { macro: 'existsOne', variables: 1, shape: 'predicate' },
  'filter/2': { macro: 'filter', variables: 1, shape: 'predicate' },
  'map/2': { macro: 'map', variables: 1, shape: 'transform' },
  'map/3': { macro: 'map', variables: 1, shape: 'filterTransform' },
  'sortBy/2': { macro: 'sortBy', variables: 1, shape: 'transform' },
  'all/3': { macro: 'all', variables: 2, shape: 'predicate' },
  'exists/3': { macro: 'exists', variables: 2, shape: 'predicate' },
  'existsOne/3': { macro: 'existsOne', variables: 2, shape: 'predicate' },
  'exists_one/3': { macro: 'existsOne', variables: 2, shape: 'predicate' },
  'transformList/3': { macro: 'transformList', variables: 2, shape: 'transform' },
  'transformList/4': { macro: 'transformList', variables: 2, shape: 'filterTransform' },
  'transformMap/3': { macro: 'transformMap', variables: 2, shape: 'transform' },
  'transformMap/4': { macro: 'transformMap', variables: 2, shape: 'filterTransform' },
  'transformMapEntry/3': { macro: 'transformMapEntry', variables: 2, shape: 'transform' },
  'transformMapEntry/4': { macro: 'transformMapEntry', variables: 2, shape: 'filterTransform' },
};

/** What a method call stands for if it is a macro. */
export function expandMethodMacro(call: Call, target: Expression): Expression | undefined {
  const { name, args, id, offset } = call;
  if ((name === 'optMap' || name === 'optFlatMap') && args.length === 2) {
    const [variable, body] = args;
    if (!variable || !body) return undefined;
    const iteration = variableName(variable, `${name}() variable name must be a simple identifier`);
    return {
      kind: 'optionalMap',
      id,
      offset,
      isFlat: name === 'optFlatMap',
      target,
      variable: iteration,
      body,
    };
  }
  const form = Object.hasOwn(forms, `${name}/${args.length}`) ? forms[`${name}/${args.length}`] : undefined;
  return form && comprehension(call, target, form);
}

function comprehension(call: Call, range: Expression, form: MacroForm): Comprehension {
  const variables = call.args
    .slice(0, form.variables)
    .map((arg) => variableName(arg, 'argument must be a simple name'));
  if (variables.length === 2 && variables[0] === variables[1])
    throw new SyntaxFailure(call.args[1]?.offset ?? call.offset, `duplicate variable name: ${variables[1]}`);
  const rest = call.args.slice(form.variables);
  const { id, offset } = call;
  const predicate = form.shape === 'transform' ? undefined : rest[0];
  const transform = form.shape === 'predicate' ? undefined : rest.at(-1);
  return { kind: 'comprehension', id, offset, macro: form.macro, range, variables, predicate, transform };
}

function variableName(expression: Expression, message: string): string {
  if (expression.kind === 'identifier') return expression.name;
  throw new SyntaxFailure(expression.offset, message);
}

/** What a function call stands for if it is a macro: `has(a.b)`. */
export function expandFunctionMacro(call: Call): Expression | undefined {
  const [argument] = call.args;
  if (call.name !== 'has' || call.args.length !== 1 || !argument) return undefined;
  if (argument.kind !== 'select' || argument.mode !== 'value')
    throw new SyntaxFailure(argument.offset, 'invalid argument to has() macro');
  return { ...argument, id: call.id, offset: call.offset, mode: 'test' };
}

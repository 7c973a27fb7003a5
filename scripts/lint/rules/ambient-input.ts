import { isHermetic } from '../layers.ts';
import { fileOf, type Node, type Rule, type RuleContext } from '../rule.ts';

const wayOut = 'take it from the Clock, Random or options that the caller passes';

const globals = ['setTimeout', 'setInterval'];
const members: Readonly<Record<string, readonly string[]>> = {
  Date: ['now'],
  Math: ['random'],
  process: ['env', 'hrtime', 'uptime', 'argv'],
  performance: ['now', 'timeOrigin'],
  crypto: ['randomUUID', 'getRandomValues'],
  AbortSignal: ['timeout'],
  globalThis: ['setTimeout', 'setInterval', 'process', 'Date', 'performance', 'crypto'],
};
const modules = ['node:timers', 'node:timers/promises', 'node:perf_hooks', 'node:process', 'node:os'];
const cryptoNames = ['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'webcrypto'];

/** Code between the edges reads no clock, no randomness and no environment of its own. */
export const ambientInputRule: Rule = {
  create(context) {
    if (!isHermetic(fileOf(context))) return {};
    return {
      'Program:exit': () => checkGlobals(context),
      ImportDeclaration: (node) => checkImport(context, node),
    };
  },
};

function checkGlobals(context: RuleContext): void {
  const { through, variables } = context.sourceCode.scopeManager.globalScope;
  const ambient = variables.filter((variable) => variable.defs.length === 0);
  for (const { identifier } of [...through, ...ambient.flatMap((variable) => variable.references)]) {
    const read = ambientRead(identifier);
    if (read !== undefined) context.report({ node: identifier, message: `${read}: ${wayOut}` });
  }
}

/** The name of what this use of a global reads, or `undefined` if it is harmless. */
function ambientRead(identifier: Node): string | undefined {
  const { name = '', parent } = identifier;
  if (parent === undefined || parent.type.startsWith('TS')) return undefined;
  if (globals.includes(name)) return name;
  if (name === 'Date' && isBareDate(identifier, parent)) return 'the current date';
  const property = propertyRead(identifier, parent);
  return members[name]?.includes(property) ? `${name}.${property}` : undefined;
}

function isBareDate(identifier: Node, parent: Node): boolean {
  if (parent.callee !== identifier) return false;
  return (
    parent.type === 'CallExpression' || (parent.type === 'NewExpression' && parent.arguments?.length === 0)
  );
}

/** The property that `parent` reads of `object`, or an empty name. */
function propertyRead(object: Node, parent: Node): string {
  if (parent.type !== 'MemberExpression' || parent.object !== object) return '';
  const name = parent.computed ? parent.property?.value : parent.property?.name;
  return typeof name === 'string' ? name : '';
}

function checkImport(context: RuleContext, node: Node): void {
  const specifier = String(node.source?.value);
  if (modules.includes(specifier)) context.report({ node, message: `${specifier}: ${wayOut}` });
  if (specifier !== 'node:crypto') return;
  for (const imported of node.specifiers ?? []) {
    const name = imported.imported?.name ?? '';
    if (cryptoNames.includes(name)) context.report({ node: imported, message: `${name}: ${wayOut}` });
  }
}

import type { Node, Rule, RuleContext } from '../rule.ts';

/** Functions at the top of a module are declarations: they have names in stack traces and may stand in any order. */
export const topLevelFunctionRule: Rule = {
  create(context) {
    return {
      Program(program) {
        for (const statement of program.body ?? []) checkStatement(context, statement);
      },
    };
  },
};

function checkStatement(context: RuleContext, statement: Node): void {
  const declaration = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
  for (const declarator of declaration?.declarations ?? []) {
    if (isUntypedFunction(declarator)) {
      context.report({ node: declarator, message: 'write a function declaration at the top of a module' });
    }
  }
}

/** A constant with a declared type is left alone: that type gives the parameters theirs. */
function isUntypedFunction(declarator: Node): boolean {
  const type = declarator.init?.type;
  return (
    !declarator.id?.typeAnnotation && (type === 'ArrowFunctionExpression' || type === 'FunctionExpression')
  );
}

/** What is private is private at run time. */
export const hashPrivateRule: Rule = {
  create(context) {
    function check(node: Node): void {
      // Constructors and what is protected have no #private form.
      if (node.kind === 'constructor' || node.accessibility === 'protected') return;
      if (node.accessibility) context.report({ node, message: 'use #private, not an accessibility keyword' });
    }
    return { MethodDefinition: check, PropertyDefinition: check };
  },
};

/** Fakes are drivers that pass the contract suite; modules are never replaced. */
export const moduleMockRule: Rule = {
  create(context) {
    return {
      CallExpression(node) {
        const callee = node.callee;
        if (callee?.type !== 'MemberExpression' || callee.property?.name !== 'module') return;
        if (callee.object?.name === 'mock' || callee.object?.property?.name === 'mock') {
          context.report({ node, message: 'no module mocks: pass a driver that meets the contract' });
        }
      },
    };
  },
};

import { importViolation } from '../layers.ts';
import { fileOf, type Node, type Rule } from '../rule.ts';

/** Imports follow the table of layers. */
export const layersRule: Rule = {
  create(context) {
    const file = fileOf(context);
    function check(node: Node): void {
      const specifier = node.source?.value;
      if (typeof specifier !== 'string') return;
      const violation = importViolation(file, specifier);
      if (violation !== undefined) context.report({ node, message: violation });
    }
    return {
      ImportDeclaration: check,
      ImportExpression: check,
      ExportNamedDeclaration: check,
      ExportAllDeclaration: check,
    };
  },
};

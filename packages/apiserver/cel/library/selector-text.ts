import type { SelectorRequirement } from '../../authorization/attributes.ts';

const word = '[A-Za-z0-9./_-]+';
const setClause = new RegExp(`^\\s*(${word})\\s+(in|notin)\\s+\\(([^()]*)\\)\\s*$`);
const equalClause = new RegExp(`^\\s*(${word})\\s*(==|=|!=)\\s*([A-Za-z0-9./_-]*)\\s*$`);
const existsClause = new RegExp(`^\\s*(!?)\\s*(${word})\\s*$`);

/** Reads a label selector; `undefined` if it cannot be read, which authorizers see as no selector. */
export function parseLabelSelector(text: string): readonly SelectorRequirement[] | undefined {
  return parseClauses(splitClauses(text), parseLabelClause);
}

/** Reads a field selector (`a=b,c!=d`). */
export function parseFieldSelector(text: string): readonly SelectorRequirement[] | undefined {
  return parseClauses(text.split(','), parseEqualClause);
}

type ClauseParser = (clause: string) => SelectorRequirement | undefined;

function parseClauses(
  clauses: readonly string[],
  parse: ClauseParser,
): readonly SelectorRequirement[] | undefined {
  const requirements: SelectorRequirement[] = [];
  for (const clause of clauses.filter((part) => part.trim() !== '')) {
    const requirement = parse(clause);
    if (!requirement) return undefined;
    requirements.push(requirement);
  }
  return requirements;
}

/** Splits at the commas that are not between parentheses. */
function splitClauses(text: string): string[] {
  const clauses: string[] = [];
  let depth = 0;
  let start = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === ',' && depth === 0) {
      clauses.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...clauses, text.slice(start)];
}

function parseLabelClause(clause: string): SelectorRequirement | undefined {
  const set = setClause.exec(clause);
  if (set) return setRequirement(set);
  const exists = existsClause.exec(clause);
  if (exists) return { key: exists[2] ?? '', operator: exists[1] ? 'DoesNotExist' : 'Exists', values: [] };
  return parseEqualClause(clause);
}

function setRequirement(match: RegExpExecArray): SelectorRequirement {
  const [, key = '', operator, list = ''] = match;
  const values = list.split(',').map((value) => value.trim());
  return { key, operator: operator === 'in' ? 'In' : 'NotIn', values };
}

function parseEqualClause(clause: string): SelectorRequirement | undefined {
  const equal = equalClause.exec(clause);
  if (!equal) return undefined;
  const [, key = '', operator, value = ''] = equal;
  return { key, operator: operator === '!=' ? 'NotIn' : 'In', values: [value] };
}

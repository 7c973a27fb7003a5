import type { ChainNames } from './chain-names.ts';
import type { Jump, Rule, RuleSet } from './rule-set.ts';

const tables = ['nat', 'filter'] as const;
type Table = (typeof tables)[number];

/** What the host has, as `iptables-save` prints it. */
export type SavedTables = Readonly<Record<Table, readonly string[]>>;

export interface RuleText {
  /** For `iptables-restore --noflush`; each table in one transaction. */
  readonly text: string;
  /** The rules by their line, counted from 1. */
  readonly lines: ReadonlyMap<number, Rule>;
}

/** What turns what is there into exactly these rules in our chains, whatever is in them now. */
export function ruleText(wanted: RuleSet, saved: SavedTables, chains: ChainNames): RuleText {
  const text: string[] = [];
  const lines = new Map<number, Rule>();
  for (const table of tables) {
    const rules = wanted.rules.filter((rule) => rule.table === table);
    const jumps = wanted.jumps.filter((jump) => jump.table === table);
    const needed = new Set([...rules.map(({ chain }) => chain), ...jumps.map(targetOf)]);
    const stale = chainsIn(saved[table], chains).filter((chain) => !needed.has(chain));
    // Naming a chain makes it, or empties it.
    text.push(`*${table}`, ...[...needed, ...stale].map((chain) => `:${chain} - [0:0]`));
    text.push(...jumpLines(jumps, saved[table], chains));
    for (const rule of rules) lines.set(text.push(`-A ${rule.chain} ${rule.words}`), rule);
    text.push(...stale.map((chain) => `-X ${chain}`), 'COMMIT');
  }
  return { text: `${text.join('\n')}\n`, lines };
}

/** Our part of what is there; the same text as long as nobody changed it. */
export function ownPart(saved: SavedTables, chains: ChainNames): string {
  return tables.flatMap((table) => saved[table].filter((line) => line.includes(chains.prefix))).join('\n');
}

function chainsIn(lines: readonly string[], { prefix }: ChainNames): readonly string[] {
  return lines
    .filter((line) => line.startsWith(`:${prefix}`))
    .map((line) => line.slice(1).split(' ')[0] ?? '');
}

/** Those that are there and wanted stay where they are. */
function jumpLines(
  jumps: readonly Jump[],
  saved: readonly string[],
  { prefix }: ChainNames,
): readonly string[] {
  const there = saved.filter(
    (line) => line.startsWith('-A ') && !line.startsWith(`-A ${prefix}`) && line.includes(prefix),
  );
  const left = new Set(jumps.map(savedForm));
  const surplus = there.filter((line) => !left.delete(line));
  const missing = jumps.filter((jump) => left.has(savedForm(jump)));
  return [
    ...surplus.map((line) => line.replace('-A', '-D')),
    ...missing.map(({ chain, words, isFirst }) => `${isFirst ? '-I' : '-A'} ${chain} ${words}`),
  ];
}

function savedForm({ chain, words }: Jump): string {
  return `-A ${chain} ${words}`;
}

function targetOf({ words }: Jump): string {
  return words.split(' ').at(-1) ?? '';
}

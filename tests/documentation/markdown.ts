/** A block of commands in a guide. */
export interface CommandBlock {
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly commands: string;
  readonly run: RunMode;
}

/**
 * How a block is run, given by a comment on the line above its fence:
 *
 *     (no comment)                             its commands run to their end, and must succeed
 *     <!-- test: background until TEXT -->     its one command runs until the end of the guide, ready when it prints TEXT
 *     <!-- test: skip because REASON -->       not run; the reason is reported
 */
export type RunMode =
  | { readonly kind: 'run' }
  | { readonly kind: 'background'; readonly readyText: string }
  | { readonly kind: 'skip'; readonly reason: string };

/** The ```sh blocks of a guide, in order. Blocks in other languages show output and are not run. */
export function commandBlocks(markdown: string): CommandBlock[] {
  const lines = markdown.split('\n');
  const blocks: CommandBlock[] = [];
  for (let index = 0; index < lines.length; index++) {
    if (lines[index]?.trim() !== '```sh') continue;
    const end = lines.indexOf('```', index + 1);
    if (end < 0) throw new Error(`the block at line ${index + 1} has no end`);
    const commands = lines.slice(index + 1, end).join('\n');
    blocks.push({ line: index + 1, commands, run: runMode(lines, index) });
    index = end;
  }
  return blocks;
}

function runMode(lines: readonly string[], fence: number): RunMode {
  const above = lines.slice(0, fence).findLast((line) => line.trim() !== '') ?? '';
  const directive = /^<!-- test: (.*) -->$/.exec(above.trim())?.[1];
  if (directive === undefined) return { kind: 'run' };
  const readyText = /^background until (.+)$/.exec(directive)?.[1];
  if (readyText !== undefined) return { kind: 'background', readyText };
  const reason = /^skip because (.+)$/.exec(directive)?.[1];
  if (reason !== undefined) return { kind: 'skip', reason };
  throw new Error(`line ${fence}: "${directive}" is no way to run a block`);
}

/** Targets of the links of a page that mean files of this repository, without their anchors. */
export function relativeLinks(markdown: string): string[] {
  const prose = markdown.replace(/```[\s\S]*?\n```/g, '').replace(/`[^`]*`/g, '');
  const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? '');
  return targets.filter((target) => !/^([a-z]+:|#)/.test(target)).map((target) => target.replace(/#.*/, ''));
}

/** What a page is made of, whatever language it is in: headings, blocks and tables in their order. */
export function skeletonOf(markdown: string): string[] {
  const parts: string[] = [];
  let isInBlock = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('```')) {
      isInBlock = !isInBlock;
      if (isInBlock) parts.push(`block ${line.slice(3)}`);
    } else if (!isInBlock) parts.push(...skeletonOfLine(line));
  }
  return parts;
}

function skeletonOfLine(line: string): string[] {
  const heading = /^#+(?= )/.exec(line)?.[0];
  if (heading !== undefined) return [heading];
  if (!line.startsWith('|')) return [];
  return [`row of ${line.split(/(?<!\\)\|/).length - 2}`];
}

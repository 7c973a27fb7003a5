import { globSync } from 'node:fs';
import { resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');

/** A program whose exit code is one passed or failed check. */
export interface CheckStage {
  readonly kind: 'check';
  readonly name: string;
  readonly command: readonly string[];
  readonly timeoutSeconds: number;
}

/** Files that node:test runs. */
export interface TestStage {
  readonly kind: 'tests';
  readonly name: string;
  /** Where the files of this stage are; those of `except` belong to another stage. */
  readonly patterns: readonly string[];
  readonly except: readonly string[];
  readonly nodeOptions: readonly string[];
  readonly timeoutSeconds: number;
}

export type Stage = CheckStage | TestStage;

const sources = '{packages,apps,scripts,bench}';
const propertySeed = '--import=./scripts/test/property-seed.ts';

/** All stages, in the order in which they run: what is quick and tells most comes first. */
export const stages: readonly Stage[] = [
  check('types', ['tsc', '--noEmit', '-p', 'tsconfig.json']),
  check('lint', ['oxlint', '--type-aware', '--deny-warnings']),
  check('format', ['biome', 'check', '--linter-enabled=false', '--error-on-warnings', '.']),
  check('dead-code', ['knip', '--no-config-hints']),
  check('structure', ['node', 'scripts/structure.ts']),
  {
    kind: 'tests',
    name: 'unit',
    patterns: [`${sources}/**/*.test.ts`],
    except: [`${sources}/**/*.integration.test.ts`],
    nodeOptions: [propertySeed, '--test-isolation=none', '--test-timeout=20000'],
    timeoutSeconds: 120,
  },
  {
    kind: 'tests',
    name: 'integration',
    patterns: [`${sources}/**/*.integration.test.ts`],
    except: [],
    nodeOptions: [propertySeed, '--test-concurrency=2', '--test-timeout=180000'],
    timeoutSeconds: 900,
  },
  {
    kind: 'tests',
    name: 'scenario',
    patterns: ['tests/**/*.test.ts'],
    except: ['tests/e2e/**'],
    nodeOptions: ['--test-concurrency=2', '--test-timeout=300000'],
    timeoutSeconds: 1200,
  },
  {
    kind: 'tests',
    name: 'e2e',
    patterns: ['tests/e2e/**/*.test.ts'],
    except: [],
    nodeOptions: ['--test-concurrency=1', '--test-timeout=600000'],
    timeoutSeconds: 3600,
  },
];

/** Words that stand for several stages. */
const groups: Readonly<Record<string, (stage: Stage) => boolean>> = {
  check: (stage) => stage.kind === 'check',
  tests: (stage) => stage.kind === 'tests',
};

export interface Selection {
  readonly stages: readonly Stage[];
  /** Only test files whose path contains one of these; empty: all. */
  readonly paths: readonly string[];
}

/** Reads the arguments of `npm test`: names of stages or groups, and parts of paths of test files. */
export function select(words: readonly string[]): Selection {
  const chosen = new Set<Stage>();
  const paths: string[] = [];
  for (const word of words) {
    const named = stages.filter((stage) => stage.name === word || groups[word]?.(stage));
    if (named.length > 0) for (const stage of named) chosen.add(stage);
    else if (/[/.]/.test(word)) paths.push(word.replace(/^\.\//, ''));
    else
      throw new Error(
        `no stage is called "${word}"; there are ${stageNames()}, and parts of paths such as packages/api/`,
      );
  }
  if (chosen.size === 0)
    for (const stage of stages) if (paths.length === 0 || stage.kind === 'tests') chosen.add(stage);
  return { stages: stages.filter((stage) => chosen.has(stage)), paths };
}

function stageNames(): string {
  return [...Object.keys(groups), ...stages.map((stage) => stage.name)].join(', ');
}

/** The files of a stage, as paths from the root. */
export function testFiles(stage: TestStage, paths: readonly string[]): string[] {
  const exclude = [...stage.except, '**/node_modules/**', '**/fixtures/**'];
  const files = globSync([...stage.patterns], { cwd: root, exclude }).sort();
  return paths.length === 0 ? files : files.filter((file) => paths.some((path) => file.includes(path)));
}

function check(name: string, command: readonly string[]): CheckStage {
  return { kind: 'check', name, command, timeoutSeconds: 300 };
}

import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** What each feature folder must have. */
const featureFiles = ['README.md', 'plan.ts', 'reconcile.ts', 'register.ts'];
/** Likewise a folder of features that are entered together, and each of these. */
const groupFiles = ['README.md', 'register.ts'];
const memberFiles = ['plan.ts', 'reconcile.ts', 'register.ts'];
/** Names that say nothing about what is inside. */
const emptyNames = /^(utils?|helpers?|commons?|managers?|misc)(\.|$)/;
const kebab = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const decisionSections = [
  'Status',
  'Context',
  'Decision',
  'Rejected options',
  'Consequence',
  'How it is checked',
];

/** Every deviation of the checkout at `root` from the plan of the house, one line each, with the path first. */
export function structureProblems(root: string): string[] {
  const files = sourceFiles(root);
  return [
    ...files.flatMap(nameProblems),
    ...files.flatMap(indexProblems),
    ...featureProblems(root, files),
    ...decisionProblems(root, files),
    ...exportProblems(root),
  ].sort();
}

/** Files that git tracks or would track, as paths from the root. */
function sourceFiles(root: string): string[] {
  const listed =
    gitFiles(root) ?? globSync('**/*', { cwd: root, exclude: ['**/node_modules/**', '.cache/**'] });
  return listed.filter(
    (file) => /\.[a-z]+$/i.test(file) && !file.includes('fixtures/') && existsSync(join(root, file)),
  );
}

/** `undefined` where git is not installed or this is not its checkout. */
function gitFiles(root: string): string[] | undefined {
  if (!existsSync(join(root, '.git'))) return undefined;
  const run = spawnSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  return run.status === 0 ? run.stdout.split('\0') : undefined;
}

function nameProblems(file: string): string[] {
  if (!file.endsWith('.ts')) return [];
  const problems: string[] = [];
  for (const name of file.split('/')) {
    if (emptyNames.test(name)) problems.push(`${file}: "${name}" says nothing; name the thing`);
    else if (!kebab.test(name.replace(/\..*$/, ''))) problems.push(`${file}: "${name}" is not kebab-case`);
  }
  return problems;
}

/** An index file is the edge of a package or of one of its folders; it only passes on exports. */
function indexProblems(file: string): string[] {
  if (basename(file) !== 'index.ts') return [];
  const depth = dirname(file).split('/').length;
  return file.startsWith('packages/') && depth <= 3
    ? []
    : [`${file}: index.ts is only for the edge of a package or of its folders`];
}

function featureProblems(root: string, files: readonly string[]): string[] {
  const features = new Set(files.flatMap((file) => /^packages\/features\/([^/]+)\//.exec(file)?.[1] ?? []));
  return [...features].flatMap((feature) => {
    const folder = `packages/features/${feature}`;
    const members = membersOf(folder, files);
    const problems =
      members.length === 0
        ? shapeProblems(folder, featureFiles, files)
        : [
            ...shapeProblems(folder, groupFiles, files),
            ...members.flatMap((member) => shapeProblems(member, memberFiles, files)),
          ];
    return existsSync(join(root, folder, 'index.ts'))
      ? [...problems, `${folder}: register.ts is the only edge`]
      : problems;
  });
}

/** The features inside a folder that is none itself: each has a plan of its own. */
function membersOf(folder: string, files: readonly string[]): string[] {
  if (files.includes(`${folder}/plan.ts`)) return [];
  const plans = files.filter((file) => file.startsWith(`${folder}/`) && basename(file) === 'plan.ts');
  return plans.map(dirname);
}

function shapeProblems(folder: string, wanted: readonly string[], files: readonly string[]): string[] {
  const missing = wanted.filter((name) => !files.includes(`${folder}/${name}`));
  const problems = missing.map((name) => `${folder}: ${name} is missing`);
  const isTested = files.some((file) => file.startsWith(`${folder}/`) && file.endsWith('.test.ts'));
  return isTested ? problems : [...problems, `${folder}: there is no test`];
}

function decisionProblems(root: string, files: readonly string[]): string[] {
  const decisions = files.filter((file) => /^docs\/adr\/\d{4}-/.test(file));
  const numbers = decisions.map((file) => basename(file).slice(0, 4));
  const doubled = numbers.filter((number, index) => numbers.indexOf(number) !== index);
  return [
    ...doubled.map((number) => `docs/adr: number ${number} is given twice`),
    ...decisions.flatMap((file) => sectionProblems(file, readFileSync(join(root, file), 'utf8'))),
  ];
}

function sectionProblems(file: string, text: string): string[] {
  const missing = decisionSections.filter((section) => !text.includes(`\n## ${section}\n`));
  return missing.map((section) => `${file}: the section "${section}" is missing`);
}

/** Features and drivers are entered by their register.ts alone. */
function exportProblems(root: string): string[] {
  return ['features', 'drivers'].flatMap((name) => {
    const path = `packages/${name}/package.json`;
    if (!existsSync(join(root, path))) return [];
    const { exports } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
      exports: Record<string, string>;
    };
    const isClosed = Object.values(exports).every((target) => target.endsWith('/register.ts'));
    return isClosed ? [] : [`${path}: only register.ts files may be exported`];
  });
}

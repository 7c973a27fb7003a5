import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { type ChildResult, runChild } from './child.ts';
import type { ReportLine } from './reporter.ts';
import { type CheckStage, root, type Stage, type TestStage, testFiles } from './stages.ts';

export type FailedTest = Extract<ReportLine, { type: 'failed' }>;
export type SkippedTest = Extract<ReportLine, { type: 'skipped' }>;

export interface StageResult {
  readonly passed: number;
  readonly failed: number;
  readonly failures: readonly FailedTest[];
  readonly skipped: readonly SkippedTest[];
  /** What else a person must see: why the stage counts as failed although no test says so. */
  readonly trouble: string | undefined;
  readonly logPath: string;
}

const logDirectory = join(root, '.cache/test');

/** Runs one stage. `paths` limits the test files. */
export async function runStage(stage: Stage, paths: readonly string[]): Promise<StageResult> {
  mkdirSync(logDirectory, { recursive: true });
  const logPath = join(logDirectory, `${stage.name}.log`);
  return stage.kind === 'check' ? runCheck(stage, logPath) : runTests(stage, { logPath, paths });
}

async function runCheck(stage: CheckStage, logPath: string): Promise<StageResult> {
  const child = await runChild({ command: stage.command, logPath, timeoutSeconds: stage.timeoutSeconds });
  const isPassed = child.exitCode === 0;
  return {
    passed: isPassed ? 1 : 0,
    failed: isPassed ? 0 : 1,
    failures: [],
    skipped: [],
    trouble: isPassed ? undefined : endOf(child, readFileSync(logPath, 'utf8')),
    logPath,
  };
}

interface TestRun {
  readonly logPath: string;
  readonly paths: readonly string[];
}

async function runTests(stage: TestStage, { logPath, paths }: TestRun): Promise<StageResult> {
  const files = testFiles(stage, paths);
  if (files.length === 0)
    return { passed: 0, failed: 0, failures: [], skipped: [], trouble: undefined, logPath };
  // Of this run alone: another one may go on beside it.
  const reportPath = join(logDirectory, `${stage.name}.${process.pid}.jsonl`);
  // Each reporter is followed by its destination.
  const reporters = [
    '--test-reporter=spec',
    '--test-reporter-destination=stdout',
    '--test-reporter=./scripts/test/reporter.ts',
    `--test-reporter-destination=${reportPath}`,
  ];
  const command = [process.execPath, '--test', ...stage.nodeOptions, ...reporters, ...files];
  const child = await runChild({ command, logPath, timeoutSeconds: stage.timeoutSeconds });
  const report = readReport(reportPath);
  rmSync(reportPath, { force: true });
  return resultOf(child, { report, logPath });
}

function readReport(path: string): ReportLine[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as ReportLine);
}

interface Finished {
  readonly report: readonly ReportLine[];
  readonly logPath: string;
}

function resultOf(child: ChildResult, { report, logPath }: Finished): StageResult {
  const summary = report.find((line) => line.type === 'summary');
  const failures = report.filter((line) => line.type === 'failed');
  const failed = Math.max(summary?.failed ?? 0, failures.length);
  // The program broke off, or says that something is wrong that no test says.
  const isUnexplained = summary === undefined || (failed === 0 && child.exitCode !== 0);
  // A file that fails as a whole has no line, and says why only in the output.
  const isShown = isUnexplained || failures.some((failure) => failure.place.endsWith(':0'));
  return {
    passed: summary?.passed ?? 0,
    failed: isUnexplained ? Math.max(failed, 1) : failed,
    failures,
    skipped: report.filter((line) => line.type === 'skipped'),
    trouble: isShown ? endOf(child, tail(logPath)) : undefined,
    logPath,
  };
}

function endOf(child: ChildResult, output: string): string {
  const how = child.isTimedOut ? 'did not end in time' : `ended with exit code ${child.exitCode}`;
  return `${how}\n${output.trimEnd()}`;
}

function tail(path: string): string {
  return readFileSync(path, 'utf8').trimEnd().split('\n').slice(-60).join('\n');
}

/** A path as people read it: from the root of the checkout. */
export function shown(path: string): string {
  return path.startsWith(root) ? relative(root, path) : path;
}

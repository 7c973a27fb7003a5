/**
 * `npm test`: runs the stages (scripts/test/stages.ts) in turn, says how each went, shows in full what failed, and ends
 * with the sums. Arguments are names of stages (`unit`), groups (`check`, `tests`) and parts of paths of test files.
 */
import { runStage, type StageResult, shown } from './test/run-stage.ts';
import { type Selection, type Stage, select } from './test/stages.ts';

async function runAll(selection: Selection): Promise<StageResult[]> {
  const results: StageResult[] = [];
  for (const stage of selection.stages) {
    const began = performance.now();
    const result = await runStage(stage, selection.paths);
    results.push(result);
    console.log(summaryLine(stage, result, (performance.now() - began) / 1000));
    showFailures(result);
  }
  return results;
}

function summaryLine(stage: Stage, result: StageResult, seconds: number): string {
  const outcome = result.failed > 0 ? 'FAILED' : 'ok';
  return `${stage.name.padEnd(12)} ${outcome.padEnd(7)} ${`${seconds.toFixed(1)} s`.padStart(8)}  ${counts(stage, result)}`;
}

function counts(stage: Stage, result: StageResult): string {
  if (stage.kind === 'check') return '';
  const { passed, failed, skipped } = result;
  if (passed + failed + skipped.length === 0) return 'no test files';
  return [
    `${passed} passed`,
    failed > 0 && `${failed} failed`,
    skipped.length > 0 && `${skipped.length} skipped`,
  ]
    .filter(Boolean)
    .join(', ');
}

function showFailures(result: StageResult): void {
  for (const { name, place, error } of result.failures)
    console.log(`\n✖ ${name}\n  ${shown(place)}\n${indent(error)}\n`);
  if (result.trouble !== undefined) console.log(`\n${indent(result.trouble)}\n`);
  if (result.failed > 0) console.log(`  full output: ${shown(result.logPath)}\n`);
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, '  ');
}

function showSums(results: readonly StageResult[]): number {
  const skipped = results.flatMap((result) => result.skipped);
  if (skipped.length > 0) console.log(`\n${skipped.length} skipped:`);
  for (const { name, place, reason } of skipped) console.log(`  ${name} (${shown(place)}): ${reason}`);
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  const failed = results.reduce((sum, result) => sum + result.failed, 0);
  console.log(`\n${passed} passed, ${failed} failed`);
  return failed;
}

try {
  const failed = showSums(await runAll(select(process.argv.slice(2))));
  process.exitCode = failed > 0 ? 1 : 0;
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 2;
}

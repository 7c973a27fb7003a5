import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { openSession, runStep, type SessionOptions } from './session.ts';

/** Runs a transcript as a test of its own per command; a command that fails does not stop the others. */
export async function runTranscript(context: TestContext, options: SessionOptions): Promise<void> {
  const session = await openSession(options);
  context.after(() => session.close());
  for (const step of options.transcript.steps) {
    const lacks = step.needs === 'controllers' && !options.target.hasControllers;
    await context.test(step.run.trim(), { skip: lacks ? 'needs controllers' : false }, async () => {
      const failures = await runStep(session, step);
      assert.ok(failures.length === 0, failures.join('\n'));
    });
  }
}

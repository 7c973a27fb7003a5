import { fileURLToPath } from 'node:url';
import { runProgram } from './program.ts';

const mainPath = fileURLToPath(new URL('../apps/sheaf/main.ts', import.meta.url));
/** Bounds the waiting of a test; nothing that is asserted. */
const patienceMs = 240_000;

/** What `sheaf …` prints. @throws Error with its words, if it fails */
export async function sheafCommand(args: readonly string[]): Promise<string> {
  const { code, out, err } = await runProgram(process.execPath, [mainPath, ...args], { timeout: patienceMs });
  if (code !== 0) throw new Error(`sheaf ${args.join(' ')} ended with ${code}: ${err}`);
  return out;
}

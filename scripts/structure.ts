/** Checks that folders and files have the shape that the house prescribes; prints each deviation. */
import { structureProblems } from './structure/problems.ts';

const problems = structureProblems(process.cwd());
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;

export { packagedRepository } from './chart-archive.ts';
export { helmProgram } from './helm-program.ts';
export { HelmSource } from './helm-source.ts';
export { planRelease } from './release-plan.ts';

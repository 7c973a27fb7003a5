export { packagedRepository, repositoryDirectory } from './chart-archive.ts';
export { findHelm } from './find-helm.ts';
export { helmProgram } from './helm-program.ts';
export { planRelease } from './release-plan.ts';

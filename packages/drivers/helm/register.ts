export { HostChartContents } from './chart-contents.ts';
export { packagedRepository } from './chart-store.ts';
export { helmProgram } from './helm-program.ts';
export { HelmSource } from './helm-source.ts';
export { planRelease } from './release-plan.ts';

export { bundleId } from './bundle-index.ts';
export { openBundle } from './bundle-reader.ts';
export type { ChartWish } from './collected-charts.ts';
export { DirectoryBundles } from './directory-bundles.ts';
export { makeBundle } from './make-bundle.ts';

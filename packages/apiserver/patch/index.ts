export { strategicMergePatch } from './strategic-merge.ts';

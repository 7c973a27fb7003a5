export { admissionRules } from './admission-rules.ts';
export { extensionDelegate } from './extension-delegate.ts';
export { routeFinder } from './route-finder.ts';
export { ServedExtensions } from './served-extensions.ts';

export { KeptObjects } from './kept-objects.ts';
export { LeanServer, type LeanServerOptions, leanAdmin } from './lean-server.ts';
export {
  type LeanTemplate,
  type LeanTemplateOptions,
  leanTemplateOf,
  makeLeanTemplate,
} from './lean-template.ts';

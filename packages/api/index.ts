export * from './builtin/definition-name.ts';
export type * from './builtin/go-type.ts';
export * from './builtin/kinds.ts';
export * from './builtin/openapi.ts';
export { openApiDataDigest } from './builtin/openapi-digest.ts';
export type * from './builtin/resource.ts';
export { type ConformContext, type Conformed, conform } from './codec/conform.ts';
export {
  type DecodedBody,
  type DecodeOptions,
  decodeJson,
  unreadable,
} from './codec/decode-json.ts';
export { decodeYaml } from './codec/decode-yaml.ts';
export { type GoTime } from './codec/go-time.ts';
export * from './extension/index.ts';
export type * from './kinds/kind-rules.ts';
export * from './kinds/rules.ts';
export * from './meta/conditions.ts';
export * from './meta/field-error.ts';
export * from './meta/field-selectors.ts';
export * from './meta/names.ts';
export * from './meta/object.ts';
export * from './meta/selectors.ts';
export * from './protobuf/envelope.ts';
export * from './schema/builtin-schema.ts';
export type * from './schema/json-schema.ts';
export * from './schema/structural.ts';
export type * from './schema/type-schema.ts';

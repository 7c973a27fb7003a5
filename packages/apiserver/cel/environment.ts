import type { Declarations } from './checker/context.ts';
import {
  boolType,
  bytesType,
  type CelType,
  doubleType,
  durationType,
  dynType,
  intType,
  listOf,
  mapOf,
  nullType,
  optionalOf,
  stringType,
  timestampType,
  typeOf,
  uintType,
} from './checker/type.ts';
import { addressLibrary, cidrType, ipType } from './library/addresses.ts';
import { authorizerLibrary, authorizerTypes } from './library/authorizer.ts';
import { jsonPatchLibrary } from './library/json-patch.ts';
import { listLibrary } from './library/lists.ts';
import { formatLibrary, formatType } from './library/named-formats.ts';
import { optionalLibrary } from './library/optionals.ts';
import { type FunctionTable, functionTable } from './library/overload.ts';
import { quantityLibrary, quantityType } from './library/quantity.ts';
import { regexLibrary } from './library/regex.ts';
import { semverLibrary, semverType } from './library/semver.ts';
import { setLibrary } from './library/sets.ts';
import { standardLibrary } from './library/standard.ts';
import { stringLibrary } from './library/strings.ts';
import { timeLibrary } from './library/times.ts';
import { urlLibrary, urlType } from './library/urls.ts';
import type { TypeValue } from './values/value.ts';

/** The functions of Kubernetes 1.36 for every expression. */
export const baseFunctions: FunctionTable = functionTable(
  standardLibrary,
  timeLibrary,
  stringLibrary,
  listLibrary,
  setLibrary,
  optionalLibrary,
  regexLibrary,
  urlLibrary,
  quantityLibrary,
  addressLibrary,
  semverLibrary,
  formatLibrary,
  authorizerLibrary,
);

/** With the functions that only expressions of JSON patches have. */
const patchFunctions: FunctionTable = new Map([...baseFunctions, ...functionTable(jsonPatchLibrary)]);

const named: readonly (readonly [string, CelType])[] = [
  ['bool', boolType],
  ['bytes', bytesType],
  ['double', doubleType],
  ['int', intType],
  ['uint', uintType],
  ['string', stringType],
  ['null_type', nullType],
  ['list', listOf(dynType)],
  ['map', mapOf(dynType, dynType)],
  ['dyn', dynType],
  ['type', typeOf(dynType)],
  ['google.protobuf.Timestamp', timestampType],
  ['google.protobuf.Duration', durationType],
  ['optional_type', optionalOf(dynType)],
  ...[quantityType, ipType, cidrType, urlType, semverType, formatType, ...authorizerTypes].map(
    (type) => [type.name, type] as const,
  ),
];

/** The types that can be named, as in `type(x) == string`. */
const typeNames: ReadonlyMap<string, CelType<TypeValue>> = new Map(
  named.map(([name, type]) => [name, typeOf(type)]),
);

export interface EnvironmentOptions {
  /** In the order in which `run` takes their values. */
  readonly variables: Readonly<Record<string, CelType>> | ReadonlyMap<string, CelType>;
  /** Types that can be written as `Name{field: value}`. */
  readonly structType?: (name: string) => CelType | undefined;
  /** Adds `jsonpatch.escapeKey`. */
  readonly hasJsonPatch?: boolean;
}

/** What expressions may name. */
export function createEnvironment(options: EnvironmentOptions): Declarations {
  const { variables, structType = () => undefined, hasJsonPatch = false } = options;
  const entries = variables instanceof Map ? variables : new Map(Object.entries(variables));
  return {
    variables: entries,
    functions: hasJsonPatch ? patchFunctions : baseFunctions,
    typeNames,
    structType,
  };
}

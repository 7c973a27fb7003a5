import type { JsonSchema, KubeObject } from '@sheaf/api';
import { isJsonObject, type JsonObject, type JsonValue, jsonEqual } from '@sheaf/base';
import { readNumber, readObject, readObjects, readText, readTexts } from './json-reader.ts';
import { setField } from './object-fields.ts';

export interface DefinitionNames {
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

export interface ScaleSettings {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath: string | undefined;
}

export interface DefinitionVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly deprecated: boolean;
  readonly deprecationWarning: string | undefined;
  readonly schema: JsonSchema | undefined;
  readonly hasStatus: boolean;
  readonly scale: ScaleSettings | undefined;
  readonly columns: readonly PrinterColumn[];
  /** Paths with their leading dot, as written. */
  readonly selectableFields: readonly string[];
  readonly source: JsonObject;
}

export interface ConversionSettings {
  readonly strategy: string;
  readonly reviewVersions: readonly string[];
  /** `url` or `service`, and `caBundle`; nothing without a webhook. */
  readonly clientConfig: JsonObject | undefined;
}

export interface DefinitionCondition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime?: string;
}

/** A CustomResourceDefinition, read from its JSON. */
export interface Definition {
  readonly name: string;
  readonly group: string;
  readonly scope: string;
  readonly names: DefinitionNames;
  readonly versions: readonly DefinitionVersion[];
  readonly conversion: ConversionSettings;
  readonly preserveUnknownFields: boolean;
  readonly acceptedNames: DefinitionNames;
  readonly conditions: readonly DefinitionCondition[];
  readonly storedVersions: readonly string[];
  readonly annotations: Readonly<Record<string, string>>;
}

export function readDefinition(crd: KubeObject): Definition {
  const spec = readObject(crd['spec']) ?? {};
  const status = readObject(crd['status']) ?? {};
  return {
    name: readText(crd.metadata.name),
    group: readText(spec['group']),
    scope: readText(spec['scope']),
    names: readNames(readObject(spec['names'])),
    versions: readObjects(spec['versions']).map(readVersion),
    conversion: readConversion(readObject(spec['conversion'])),
    preserveUnknownFields: spec['preserveUnknownFields'] === true,
    acceptedNames: readNames(readObject(status['acceptedNames'])),
    conditions: readObjects(status['conditions']) as unknown as readonly DefinitionCondition[],
    storedVersions: readTexts(status['storedVersions']),
    annotations: crd.metadata.annotations ?? {},
  };
}

function readNames(names: JsonObject = {}): DefinitionNames {
  return {
    plural: readText(names['plural']),
    singular: readText(names['singular']),
    kind: readText(names['kind']),
    listKind: readText(names['listKind']),
    shortNames: readTexts(names['shortNames']),
    categories: readTexts(names['categories']),
  };
}

function readVersion(version: JsonObject): DefinitionVersion {
  const schema = readObject(readObject(version['schema'])?.['openAPIV3Schema']);
  const subresources = readObject(version['subresources']);
  const warning = version['deprecationWarning'];
  return {
    name: readText(version['name']),
    served: version['served'] === true,
    storage: version['storage'] === true,
    deprecated: version['deprecated'] === true,
    deprecationWarning: typeof warning === 'string' ? warning : undefined,
    schema,
    hasStatus: readObject(subresources?.['status']) !== undefined,
    scale: readScale(readObject(subresources?.['scale'])),
    columns: readObjects(version['additionalPrinterColumns']).map(readColumn),
    selectableFields: readObjects(version['selectableFields']).map((field) => readText(field['jsonPath'])),
    source: version,
  };
}

function readScale(scale: JsonObject | undefined): ScaleSettings | undefined {
  if (scale === undefined) return undefined;
  const selector = scale['labelSelectorPath'];
  return {
    specReplicasPath: readText(scale['specReplicasPath']),
    statusReplicasPath: readText(scale['statusReplicasPath']),
    labelSelectorPath: typeof selector === 'string' ? selector : undefined,
  };
}

function readColumn(column: JsonObject): PrinterColumn {
  return {
    name: readText(column['name']),
    type: readText(column['type']),
    format: readText(column['format']),
    description: readText(column['description']),
    priority: readNumber(column['priority']) ?? 0,
    jsonPath: readText(column['jsonPath']),
  };
}

function readConversion(conversion: JsonObject = {}): ConversionSettings {
  const webhook = readObject(conversion['webhook']);
  return {
    strategy: readText(conversion['strategy']),
    reviewVersions: readTexts(webhook?.['conversionReviewVersions']),
    clientConfig: readObject(webhook?.['clientConfig']),
  };
}

/** Whether all versions say the same in a field: errors about it are then reported once, outside the versions. */
export function isShared(versions: readonly DefinitionVersion[], field: string): boolean {
  const [first] = versions;
  if (first === undefined) return false;
  const value = first.source[field];
  return versions.every((version) => jsonEqual(version.source[field] ?? null, value ?? null));
}

/** Fills in what a definition may leave out, in place. */
export function defaultDefinition(crd: KubeObject): void {
  const spec = crd['spec'];
  if (!isJsonObject(spec)) return;
  defaultNames(spec);
  if (!isJsonObject(spec['conversion'])) spec['conversion'] = { strategy: 'None' };
  defaultPort(spec['conversion']);
  defaultStoredVersions(crd, spec);
}

function defaultNames(spec: JsonObject): void {
  const { names } = spec;
  if (!isJsonObject(names)) return;
  const kind = readText(names['kind']);
  if (!readText(names['singular'])) names['singular'] = kind.toLowerCase();
  if (!readText(names['listKind']) && kind !== '') names['listKind'] = `${kind}List`;
}

function defaultPort(conversion: JsonObject): void {
  const clientConfig = readObject(readObject(conversion['webhook'])?.['clientConfig']);
  const service = readObject(clientConfig?.['service']);
  if (service !== undefined) service['port'] ??= 443;
}

function defaultStoredVersions(crd: KubeObject, spec: JsonObject): void {
  const status: JsonObject = readObject(crd['status']) ?? {};
  if (readTexts(status['storedVersions']).length > 0) return;
  const stored = readObjects(spec['versions']).find((version) => version['storage'] === true);
  if (stored === undefined) return;
  setField(status, 'storedVersions', [readText(stored['name'])]);
  crd['status'] = status;
}

/** The schema of a version, if the version exists. */
export function findVersion(definition: Definition, name: string): DefinitionVersion | undefined {
  return definition.versions.find((version) => version.name === name);
}

/** A list of texts as JSON, for messages. */
export function asJsonList(texts: readonly string[]): JsonValue {
  return texts.length === 0 ? null : [...texts];
}

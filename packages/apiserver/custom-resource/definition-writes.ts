import type { KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { type Definition, isShared, readDefinition } from './definition.ts';
import { isEnforcedFormat } from './formats.ts';
import { goQuote } from './go-text.ts';
import { readObject, readTexts } from './json-reader.ts';
import { readSchema, type SchemaNode, SchemaTooDeep } from './schema-node.ts';

/** What a definition has for a status before its names are decided on. */
function undecidedStatus(): JsonObject {
  return { conditions: null, acceptedNames: { plural: '', kind: '' } };
}

/**
 * The status a write to the main endpoint leaves, in place: that of the old definition (an undecided one on a create),
 * with the version that is now stored among its stored versions.
 */
export function keepDefinitionStatus(crd: KubeObject, old?: KubeObject): void {
  const status: JsonObject = old === undefined ? undecidedStatus() : { ...readObject(old['status']) };
  const stored = readDefinition(crd).versions.find((version) => version.storage);
  const versions = readTexts(status['storedVersions']);
  if (stored !== undefined && !versions.includes(stored.name)) {
    status['storedVersions'] = [...versions, stored.name];
  }
  crd['status'] = status;
}

/** Warnings of a write: formats that are not enforced, on an update only those that are new. */
export function definitionWarnings(crd: KubeObject, old?: KubeObject): readonly string[] {
  const known = new Set(old === undefined ? [] : unenforcedFormats(readDefinition(old)));
  return unenforcedFormats(readDefinition(crd))
    .filter((format) => !known.has(format))
    .map((format) => `unrecognized format ${goQuote(format)}`);
}

function unenforcedFormats(definition: Definition): readonly string[] {
  const { versions } = definition;
  const distinct = isShared(versions, 'schema') ? versions.slice(0, 1) : versions;
  const found: string[] = [];
  for (const version of distinct) {
    try {
      collect(readSchema(version.schema), found);
    } catch (error) {
      // Such a schema is refused by validation, which says so.
      if (!(error instanceof SchemaTooDeep)) throw error;
    }
  }
  return found;
}

function collect(node: SchemaNode, found: string[]): void {
  if (node.format !== '' && !isEnforcedFormat(node.type, node.format)) found.push(node.format);
  const single = [node.items, node.not, node.additionalProperties?.schema];
  const children = [...single, ...node.allOf, ...node.anyOf, ...node.oneOf, ...node.properties.values()];
  for (const child of children) if (child !== undefined) collect(child, found);
}

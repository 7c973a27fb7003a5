import { readDataFile } from '../builtin/data-file.ts';
import type { KubeObject } from '../meta/object.ts';
import { type CommittedDefinition, definitionDigest, expandDefinition } from './expand-definition.ts';

/** A kind that is served besides the built-in ones, by a definition that this release brings along. */
export interface KindDefinition extends CommittedDefinition {
  /** `PLURAL.GROUP` */
  readonly name: string;
  /** Equal in releases whose definitions say the same. */
  readonly digest: string;
}

let known: readonly KindDefinition[] | undefined;

/** All of them, without their schemas; read once. */
export function kindDefinitions(): readonly KindDefinition[] {
  known ??= readDataFile<readonly KindDefinition[]>('definitions/kinds.json');
  return known;
}

/**
 * The CustomResourceDefinitions in full. The schemas are read for this call only: they are needed where a definition is
 * missing or differs, which in most starts none does.
 */
export function customResourceDefinitions(definitions: readonly KindDefinition[]): readonly KubeObject[] {
  if (definitions.length === 0) return [];
  const schemas = readDataFile<Record<string, unknown>>('definitions/schemas.json');
  return definitions.map((definition) => expandDefinition(definition, schemas));
}

/** Whether a CustomResourceDefinition says what `definition` does, whatever else stands in its metadata. */
export function matchesDefinition(crd: KubeObject, definition: KindDefinition): boolean {
  return definitionDigest(crd) === definition.digest;
}

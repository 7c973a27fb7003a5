import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { readImageName } from '@sheaf/ports';
import { parse } from 'yaml';

export interface RenderedImages {
  /** What containers and volumes of pods are made from, also in templates of pods. As an image store knows them. */
  readonly ofPods: readonly string[];
  /** Other values that are called image and look like the name of one: operators may make pods with them. */
  readonly others: readonly string[];
}

const containerFields = ['containers', 'initContainers', 'ephemeralContainers'];
/** What may name an image; documents without it are not read. */
const imageLine = /\b(image|reference)["']?[ \t]*:[ \t]*\S/;
const definition = /^kind: CustomResourceDefinition\s*$/m;

/** The images that the manifests of a chart name, sorted. @throws YAMLParseError */
export function imagesIn(manifests: string): RenderedImages {
  const ofPods = new Set<string>();
  const others = new Set<string>();
  for (const text of manifests.split(/^---.*$/m)) {
    if (!imageLine.test(text) || definition.test(text)) continue;
    const value = parse(text, { maxAliasCount: 100 }) as JsonValue;
    visit(value, { ofPods, others });
  }
  for (const name of ofPods) others.delete(name);
  return { ofPods: [...ofPods].toSorted(), others: [...others].toSorted() };
}

interface Found {
  readonly ofPods: Set<string>;
  readonly others: Set<string>;
}

function visit(value: JsonValue | undefined, found: Found): void {
  if (Array.isArray(value)) for (const item of value) visit(item, found);
  if (!isJsonObject(value)) return;
  notePod(value, found.ofPods);
  // One word may be anything.
  const { image } = value;
  if (typeof image === 'string' && /[/:]/.test(image)) note(image, found.others);
  for (const field of Object.values(value)) visit(field, found);
}

function notePod(value: JsonObject, into: Set<string>): void {
  for (const field of containerFields) for (const { image } of objectsIn(value[field])) note(image, into);
  for (const { image } of objectsIn(value['volumes']))
    if (isJsonObject(image)) note(image['reference'], into);
}

function objectsIn(value: JsonValue | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item)) : [];
}

function note(text: JsonValue | undefined, into: Set<string>): void {
  const name = typeof text === 'string' ? readImageName(text) : undefined;
  if (name) into.add(name.stored);
}

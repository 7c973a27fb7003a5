import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { SchemaNode } from './json-schema.ts';
import { type DefinitionSource, definitionSources } from './sources.ts';

export interface PublishedVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: SchemaNode };
  readonly subresources?: object;
  readonly additionalPrinterColumns?: readonly { readonly name: string; readonly jsonPath: string }[];
  readonly [field: string]: unknown;
}

interface PublishedNames {
  readonly plural: string;
  readonly singular?: string;
  readonly kind: string;
  readonly listKind?: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

/** A CustomResourceDefinition as others publish it. */
export interface PublishedDefinition {
  readonly metadata: {
    readonly name: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly group: string;
    readonly names: PublishedNames;
    readonly scope: string;
    readonly versions: readonly PublishedVersion[];
  };
}

/** All definitions, KubeVirt's first. `kubevirtFile` has one a line, as the program in `../kubevirt` prints them. */
export function publishedDefinitions(
  moduleCache: string,
  kubevirtFile: string,
): readonly PublishedDefinition[] {
  const kubevirt = readFileSync(kubevirtFile, 'utf8').trim().split('\n');
  return [
    ...kubevirt.map((line) => JSON.parse(line) as PublishedDefinition),
    ...definitionSources.flatMap((source) => definitionsOf(source, moduleCache)),
  ];
}

function definitionsOf(
  { module, folder, files, group }: DefinitionSource,
  cache: string,
): PublishedDefinition[] {
  const path = join(cache, module, folder);
  const found = readdirSync(path)
    .filter((file) => files.test(file))
    .sort()
    .flatMap((file) => textsOf(file, readFileSync(join(path, file), 'utf8')))
    .flatMap((text) => parseAllDocuments(text))
    .map((document) => document.toJS() as PublishedDefinition | null)
    .filter((definition) => definition !== null)
    .filter(({ spec }) => group === undefined || spec.group === group);
  if (found.length === 0) throw new Error(`no definitions in ${path}: is the module downloaded?`);
  return found;
}

/** The YAML in a file: that of a Go file stands in its raw strings, whose own quotes are strings between them. */
function textsOf(file: string, text: string): readonly string[] {
  if (!file.endsWith('.go')) return [text];
  const joined = text.replaceAll('` + "`" + `', '\u0000');
  return [...joined.matchAll(/`([^`]+)`/g)].map(([, yaml = '']) => yaml.replaceAll('\u0000', '`'));
}

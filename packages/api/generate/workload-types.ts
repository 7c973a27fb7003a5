import type { FieldRow, TypeFile } from '../builtin/type-file.ts';

/** The kinds whose types are written, with all that they contain. */
const roots: readonly string[] = [
  'core/v1.Pod',
  'core/v1.PodTemplateSpec',
  'core/v1.Service',
  'core/v1.Endpoints',
  'core/v1.PodLogOptions',
  'apps/v1.ControllerRevision',
  'apps/v1.DaemonSet',
  'apps/v1.Deployment',
  'apps/v1.ReplicaSet',
  'apps/v1.StatefulSet',
  'batch/v1.CronJob',
  'batch/v1.Job',
  'discovery/v1.EndpointSlice',
];

/** An object without them is refused, whatever the tables say. */
const alwaysThere: ReadonlySet<string> = new Set(['spec', 'template']);

/** Types that the package has anyway: name, and module below `packages/api`. */
const known: Readonly<Record<string, readonly [string, string]>> = {
  'meta/v1.Condition': ['Condition', 'meta/conditions'],
  'meta/v1.LabelSelector': ['LabelSelector', 'meta/selectors'],
  'meta/v1.ObjectMeta': ['ObjectMeta', 'meta/object'],
};

const scalars: Readonly<Record<string, string>> = {
  string: 'string',
  bool: 'boolean',
  int32: 'number',
  int64: 'number',
  uint32: 'number',
  float64: 'number',
  quantity: 'string',
  intOrString: 'number | string',
  time: 'string',
  microTime: 'string',
  bytes: 'string',
  truth: "'True' | 'False' | 'Unknown'",
  any: 'unknown',
  json: 'unknown',
  rawExtension: 'unknown',
  fieldsV1: 'unknown',
};

const head = '// Written by generate/write-workload-types.ts; see generated/NOTICE of this package.';

/** Sources of the types of the kinds that run workloads, by file name: one file for each group version. */
export function workloadTypeFiles(read: (groupVersion: string) => TypeFile): ReadonlyMap<string, string> {
  const writer = new TypeWriter(read);
  for (const root of roots) writer.add(root);
  return writer.files();
}

class TypeWriter {
  readonly #read: (groupVersion: string) => TypeFile;
  readonly #texts = new Map<string, string>();
  /** Names of other files that a file uses, by file. */
  readonly #uses = new Map<string, Map<string, Set<string>>>();

  constructor(read: (groupVersion: string) => TypeFile) {
    this.#read = read;
  }

  add(name: string): void {
    if (this.#texts.has(name)) return;
    this.#texts.set(name, '');
    const [group, type] = split(name);
    const rows = this.#read(group)[type];
    if (!rows) throw new Error(`there is no type ${name}`);
    const [, ...fields] = rows;
    const isObject =
      fields.some(([, go]) => go === 'TypeMeta') && fields.some(([json]) => json === 'metadata');
    if (isObject) this.#use(group, 'meta/object', 'KubeObject');
    const lines = fields
      .flatMap((field) => this.#flat(field))
      .filter(([json]) => json !== '' && !(isObject && json === 'metadata'))
      .map((field) => this.#line(group, isConditionStatus(type, field) ? truth(field) : field));
    const heading = `export interface ${type}${isObject ? ' extends KubeObject' : ''} {`;
    this.#texts.set(name, [heading, ...lines, '}'].join('\n'));
  }

  files(): ReadonlyMap<string, string> {
    const files = new Map<string, string[]>();
    for (const name of [...this.#texts.keys()].sort()) {
      const [group] = split(name);
      files.set(group, [...(files.get(group) ?? []), this.#texts.get(name) ?? '']);
    }
    return new Map(
      [...files].map(([group, texts]) => [
        `${fileOf(group)}.ts`,
        `${[head, this.#imports(group), ...texts].filter((part) => part !== '').join('\n\n')}\n`,
      ]),
    );
  }

  /** Fields of embedded structs belong to the struct around them. */
  #flat(field: FieldRow): readonly FieldRow[] {
    const [json, , , type, flags] = field;
    if (json !== '' || !flags.includes('i') || type === '#meta/v1.TypeMeta') return [field];
    const [group, name] = split(type.replace(/^\*?#/, ''));
    const [, ...fields] = this.#read(group)[name] as readonly [string, ...FieldRow[]];
    return fields.flatMap((each) => this.#flat(each));
  }

  #line(group: string, [json, , , type, flags]: FieldRow): string {
    const text = this.#typeText(group, type);
    const isOptional = /[ez]/.test(flags) && !alwaysThere.has(json);
    return `  readonly ${json}${isOptional ? '?' : ''}: ${text};`;
  }

  #typeText(group: string, expression: string): string {
    const bare = expression.replace(/^\*/, '').replace(/^\([^)]*\)/, '');
    if (bare.startsWith('[]')) return listOf(this.#typeText(group, bare.slice(2)));
    const map = /^\{[^}]*\}(.*)$/.exec(bare);
    if (map) return `Readonly<Record<string, ${this.#typeText(group, map[1] ?? '')}>>`;
    if (bare.startsWith('#')) return this.#structName(group, bare.slice(1));
    const scalar = scalars[bare];
    if (scalar === undefined) throw new Error(`unknown type ${expression}`);
    return scalar;
  }

  #structName(group: string, name: string): string {
    const there = known[name];
    if (there) {
      this.#use(group, there[1], there[0]);
      return there[0];
    }
    const [other, type] = split(name);
    this.add(name);
    if (other !== group) this.#use(group, `./${fileOf(other)}`, type);
    return type;
  }

  #use(group: string, from: string, name: string): void {
    const uses = this.#uses.get(group) ?? new Map<string, Set<string>>();
    this.#uses.set(group, uses.set(from, (uses.get(from) ?? new Set()).add(name)));
  }

  #imports(group: string): string {
    return [...(this.#uses.get(group) ?? [])]
      .map(([from, names]) => [from.startsWith('./') ? `${from}.ts` : `../../${from}.ts`, names] as const)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([from, names]) => `import type { ${[...names].sort().join(', ')} } from '${from}';`)
      .join('\n');
  }
}

function isConditionStatus(type: string, [json]: FieldRow): boolean {
  return type.endsWith('Condition') && json === 'status';
}

function truth([json, go, number, , flags]: FieldRow): FieldRow {
  return [json, go, number, 'truth', flags];
}

function split(name: string): readonly [group: string, type: string] {
  const dot = name.lastIndexOf('.');
  return [name.slice(0, dot), name.slice(dot + 1)];
}

function fileOf(group: string): string {
  return group.slice(0, group.indexOf('/'));
}

function listOf(item: string): string {
  return item.includes(' ') ? `readonly (${item})[]` : `readonly ${item}[]`;
}

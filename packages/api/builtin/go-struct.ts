import type { JsonValue } from '@sheaf/base';
import { readDataFile } from './data-file.ts';
import type { GoField, GoStruct, GoType, ProtoField } from './go-type.ts';
import { parseType } from './type-expression.ts';
import type { FieldExtras, FieldRow, TypeFile } from './type-file.ts';

interface StructShell extends GoStruct {
  readonly fields: GoField[];
  readonly protoFields: ProtoField[];
  readonly fieldsByName: Map<string, GoField>;
  readonly slotsByName: Map<string, number>;
  readonly protoFieldsByNumber: (ProtoField | undefined)[];
}

const structs = new Map<string, GoStruct>();
const files = new Map<string, TypeFile>();

/** The struct `core/v1.PodSpec`, compiled with all it refers to on first use; undefined for unknown names. */
export function findGoStruct(name: string): GoStruct | undefined {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const dot = name.indexOf('.');
  const shortName = name.slice(dot + 1);
  const file = typeFile(name.slice(0, dot));
  const row = Object.hasOwn(file, shortName) ? file[shortName] : undefined;
  return row === undefined ? undefined : compileStruct(name, row);
}

/** As `findGoStruct`, for names that are known to exist. */
export function goStruct(name: string): GoStruct {
  const struct = findGoStruct(name);
  if (struct === undefined) throw new Error(`no Go type ${name}`);
  return struct;
}

function typeFile(packageKey: string): TypeFile {
  let file = files.get(packageKey);
  if (file === undefined) {
    file = readDataFile<TypeFile>(`types/${packageKey.replace('/', '-')}.json`);
    files.set(packageKey, file);
  }
  return file;
}

function compileStruct(name: string, [mark, ...rows]: readonly [string, ...FieldRow[]]): GoStruct {
  const shell: StructShell = {
    name,
    shortName: name.slice(name.indexOf('.') + 1),
    goName: name.slice(name.indexOf('/') + 1),
    isAtomic: mark === 'atomic',
    fields: [],
    protoFields: [],
    fieldsByName: new Map(),
    slotsByName: new Map(),
    protoFieldsByNumber: [],
  };
  // Registered before its fields are read, for kinds that contain themselves.
  structs.set(name, shell);
  for (const row of rows) addField(shell, row);
  shell.protoFields.sort((a, b) => a.number - b.number);
  shell.fields.forEach((field, slot) => {
    shell.fieldsByName.set(field.json, field);
    shell.slotsByName.set(field.json, slot);
  });
  for (const field of shell.protoFields) shell.protoFieldsByNumber[field.number] = field;
  return shell;
}

function addField(shell: StructShell, row: FieldRow): void {
  const [json, goName, number, expression, flags] = row;
  const type = parseType(expression, goStruct);
  const slot = shell.fields.length;
  if (!flags.includes('i')) {
    shell.fields.push(field(row, type));
    if (number > 0) shell.protoFields.push({ number, json, slot, type, embedded: undefined });
    return;
  }
  const embedded = type.struct;
  if (embedded === undefined) throw new Error(`${shell.name}.${goName} is not a struct`);
  for (const inner of embedded.fields) {
    shell.fields.push({ ...inner, errorPath: `${goName}.${inner.errorPath}` });
  }
  if (number > 0) shell.protoFields.push({ number, json, slot, type, embedded });
}

function field(row: FieldRow, type: GoType): GoField {
  const [json, , , , flags, extras = {}] = row;
  const omitsAbsent = omitsZero(type, flags);
  return {
    json,
    errorPath: json,
    type,
    omitsEmpty: flags !== '',
    absent: omitsAbsent ? undefined : zeroValue(type),
    absentStruct: omitsAbsent || type.isPointer ? undefined : type.struct,
    ...mergeRules(extras),
  };
}

/** omitempty has no effect on structs, and of the special types only bytes can be empty. */
function omitsZero(type: GoType, flags: string): boolean {
  return flags.includes('z') || (flags !== '' && (type.isPointer || !alwaysWritten.has(type.kind)));
}

type MergeRules = Pick<GoField, 'patchStrategies' | 'patchMergeKey' | 'listType' | 'mapKeys' | 'isMapAtomic'>;

function mergeRules(extras: FieldExtras): MergeRules {
  return {
    patchStrategies: extras.strategy?.split(',') ?? [],
    patchMergeKey: extras.mergeKey,
    listType: extras.list ?? 'atomic',
    mapKeys: (extras.keys ?? []).map(([name, defaultValue]) => ({ name, defaultValue })),
    isMapAtomic: extras.atomic ?? false,
  };
}

const alwaysWritten: ReadonlySet<GoType['kind']> = new Set<GoType['kind']>([
  'struct',
  'quantity',
  'intOrString',
  'time',
  'microTime',
  'rawExtension',
  'json',
  'schemaOrArray',
  'schemaOrBool',
  'schemaOrStringArray',
]);

const zeroValues: Readonly<Partial<Record<GoType['kind'], JsonValue>>> = {
  string: '',
  bool: false,
  int32: 0,
  int64: 0,
  float64: 0,
  quantity: '0',
  intOrString: 0,
  schemaOrBool: false,
};

/** The JSON of Go's zero value; undefined for structs, whose zero value is an object of its own each time. */
export function zeroValue(type: GoType): JsonValue | undefined {
  if (type.isPointer) return null;
  if (type.kind === 'struct') return undefined;
  return zeroValues[type.kind] ?? null;
}

import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { type Meter, valuesEqual } from '../values/equality.ts';
import { ListValue, MapValue, type Value } from '../values/value.ts';

/** How a JSON value becomes a CEL value. Fails the evaluation if the JSON does not fit. */
export type Adapter = (json: JsonValue) => Value;

/** A JSON array; elements become values when they are read. */
export class JsonList extends ListValue {
  readonly json: readonly JsonValue[];
  readonly adapt: Adapter;
  #made: (Value | undefined)[] | undefined;

  constructor(json: readonly JsonValue[], adapt: Adapter) {
    super();
    this.json = json;
    this.adapt = adapt;
  }

  get size(): number {
    return this.json.length;
  }

  get(index: number): Value {
    const json = this.json[index] ?? null;
    if (typeof json !== 'object' || json === null) return this.adapt(json);
    this.#made ??= [];
    return (this.#made[index] ??= this.adapt(json));
  }
}

/** The parts of a JSON object that were made into values, so that they are made once. */
class MadeValues {
  readonly json: JsonObject;
  #made: Map<string, Value> | undefined;
  #names: readonly string[] | undefined;

  constructor(json: JsonObject) {
    this.json = json;
  }

  /** The names of the fields that are there. */
  get names(): readonly string[] {
    this.#names ??= Object.keys(this.json).filter((name) => this.json[name] !== undefined);
    return this.#names;
  }

  make(name: string, json: JsonValue, adapt: Adapter): Value {
    if (typeof json !== 'object' || json === null) return adapt(json);
    const known = this.#made?.get(name);
    if (known !== undefined) return known;
    const value = adapt(json);
    this.#made ??= new Map();
    this.#made.set(name, value);
    return value;
  }
}

/** A JSON object whose values are all of one type. */
export class JsonMap extends MapValue {
  readonly json: JsonObject;
  readonly #parts: MadeValues;
  readonly #adapt: Adapter;

  constructor(json: JsonObject, adapt: Adapter) {
    super();
    this.json = json;
    this.#parts = new MadeValues(json);
    this.#adapt = adapt;
  }

  get size(): number {
    return this.#parts.names.length;
  }

  find(key: Value): Value | undefined {
    if (typeof key !== 'string' || !Object.hasOwn(this.json, key)) return undefined;
    const json = this.json[key];
    return json === undefined ? undefined : this.#parts.make(key, json, this.#adapt);
  }

  keys(): readonly Value[] {
    return this.#parts.names;
  }
}

/** A field of an object: its name in JSON and its type. */
export interface FieldAdapter {
  readonly name: string;
  /** A second way to write the field, which is not listed among the keys. */
  readonly isAlias?: boolean;
  readonly adapt: Adapter;
}

/** A JSON object with declared fields, by their escaped names. Undeclared fields count only for its size. */
export class JsonRecord extends MapValue {
  readonly json: JsonObject;
  readonly #parts: MadeValues;
  readonly #fields: ReadonlyMap<string, FieldAdapter>;

  constructor(json: JsonObject, fields: ReadonlyMap<string, FieldAdapter>) {
    super();
    this.json = json;
    this.#parts = new MadeValues(json);
    this.#fields = fields;
  }

  get size(): number {
    return this.#parts.names.length;
  }

  find(key: Value): Value | undefined {
    const field = typeof key === 'string' ? this.#fields.get(key) : undefined;
    if (!field || !Object.hasOwn(this.json, field.name)) return undefined;
    const json = this.json[field.name];
    // A null of a nullable field counts as absent.
    return json === undefined || json === null ? undefined : this.#parts.make(field.name, json, field.adapt);
  }

  keys(): readonly Value[] {
    const keys: string[] = [];
    for (const [key, field] of this.#fields) {
      const isPresent = Object.hasOwn(this.json, field.name) && (this.json[field.name] ?? null) !== null;
      if (isPresent && !field.isAlias) keys.push(key);
    }
    return keys;
  }
}

/** JSON without a schema: whole numbers are ints, others doubles. */
export function adaptDynamic(json: JsonValue): Value {
  if (typeof json === 'number') return Number.isInteger(json) ? BigInt(json) : json;
  if (Array.isArray(json)) return new JsonList(json, adaptDynamic);
  return isJsonObject(json) ? new JsonMap(json, adaptDynamic) : json;
}

/** A list of type `set`: order does not matter, `+` is the union. */
export class SetList extends JsonList {
  equalsList(other: ListValue, meter: Meter): boolean {
    if (other.size !== this.size) return false;
    const own = new Set<unknown>(this.json);
    for (let index = 0; index < other.size; index++) {
      meter.step();
      if (!own.has(toScalar(other.get(index)))) return false;
    }
    return true;
  }

  addList(other: ListValue): ListValue {
    const seen = new Set<unknown>(this.json);
    const merged = [...this.json];
    for (let index = 0; index < other.size; index++) {
      const scalar = toScalar(other.get(index));
      if (scalar === undefined || seen.has(scalar)) continue;
      seen.add(scalar);
      merged.push(scalar);
    }
    return new SetList(merged, this.adapt);
  }
}

/** The JSON of a scalar value, as sets hold it. */
function toScalar(value: Value): string | number | boolean | undefined {
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'object' ? undefined : value;
}

/** A list of type `map`: elements belong together by their keys; `+` merges. */
export class KeyedList extends JsonList {
  readonly #keys: readonly string[];
  #byKey: Map<string, Value> | undefined;

  constructor(json: readonly JsonValue[], adapt: Adapter, keys: readonly string[]) {
    super(json, adapt);
    this.#keys = keys;
  }

  #keyOf(json: JsonValue): string {
    return elementKey(json, this.#keys);
  }

  #index(): Map<string, Value> {
    this.#byKey ??= new Map(this.json.map((element, index) => [this.#keyOf(element), this.get(index)]));
    return this.#byKey;
  }

  equalsList(other: ListValue, meter: Meter): boolean {
    if (other.size !== this.size || !(other instanceof JsonList)) return false;
    const own = this.#index();
    return other.json.every((element, index) => {
      meter.step();
      const found = own.get(this.#keyOf(element));
      return found !== undefined && valuesEqual(found, other.get(index), meter);
    });
  }

  addList(other: ListValue): ListValue {
    const merged = new Map(this.json.map((element) => [this.#keyOf(element), element]));
    if (other instanceof JsonList)
      for (const element of other.json) merged.set(this.#keyOf(element), element);
    return new KeyedList(Array.from(merged.values()), this.adapt, this.#keys);
  }
}

/** What identifies an element of a list of type `map`. */
export function elementKey(json: JsonValue, keys: readonly string[]): string {
  return JSON.stringify(keys.map((key) => (isJsonObject(json) ? (json[key] ?? null) : null)));
}

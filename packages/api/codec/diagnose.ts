import { isJsonObject, type JsonValue, parseQuantity, QuantitySyntaxError } from '@sheaf/base';
import type { GoField, GoStruct, GoType } from '../builtin/go-type.ts';
import { base64FaultOffset, canonicalBase64 } from './base64.ts';
import { canonicalMicroTime, canonicalTime, TimeSyntaxError } from './go-time.ts';

/**
 * The words in which Go refuses a value for a struct, or undefined where it would not. Types that read themselves
 * (quantities, times) end the decoding at once; of other mismatches the first is told at the end.
 */
export function diagnose(struct: GoStruct, value: JsonValue): string | undefined {
  const fault = faultOf(struct, value);
  if (fault === undefined || typeof fault === 'string') return fault;
  const into =
    fault.struct === undefined
      ? `Go value of type ${fault.goName}`
      : `Go struct field ${fault.struct}.${fault.path.join('.')} of type ${fault.goName}`;
  return `json: cannot unmarshal ${fault.found} into ${into}`;
}

/** A JSON type that does not fit; the path is that of the field from where decoding began. */
interface TypeFault {
  readonly found: string;
  readonly goName: string;
  readonly struct: string | undefined;
  readonly path: readonly string[];
}

type Fault = TypeFault | string;

function faultOf(struct: GoStruct, value: JsonValue): Fault | undefined {
  const search = new Diagnosis();
  try {
    search.struct(struct, value, struct.goName);
  } catch (error) {
    if (error instanceof Refusal) return error.fault;
    throw error;
  }
  return search.first;
}

class Refusal extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super('refused');
    this.fault = fault;
  }
}

function kindOfJson(value: JsonValue): string {
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'boolean') return 'bool';
  return typeof value;
}

class Diagnosis {
  first: Fault | undefined;
  readonly #path: string[] = [];
  #struct: string | undefined;

  struct(struct: GoStruct, value: JsonValue, goName: string): void {
    if (value === null) return;
    if (!isJsonObject(value)) return this.#mismatch(kindOfJson(value), goName);
    const outer = this.#struct;
    for (const key in value) {
      const field = struct.fieldsByName.get(key);
      const given = value[key];
      if (field !== undefined && given !== undefined) this.#field(struct, field, given);
    }
    this.#struct = outer;
  }

  #field(struct: GoStruct, field: GoField, value: JsonValue): void {
    this.#struct = struct.shortName;
    this.#path.push(field.errorPath);
    this.#type(field.type, value);
    this.#path.pop();
  }

  #mismatch(found: string, goName: string): void {
    this.first ??= this.#typeFault(found, goName);
  }

  #typeFault(found: string, goName: string, inner: readonly string[] = []): TypeFault {
    return { found, goName, struct: this.#struct, path: [...this.#path, ...inner] };
  }

  #type(type: GoType, value: JsonValue): void {
    if (value === null) return;
    switch (type.kind) {
      case 'struct':
        if (type.struct !== undefined) this.struct(type.struct, value, type.goName);
        return;
      case 'list':
        return this.#list(type, value);
      case 'map':
        return this.#map(type, value);
      case 'schemaOrArray':
      case 'schemaOrBool':
      case 'schemaOrStringArray':
        return this.#union(type, value);
      default:
        return this.#scalar(type, value);
    }
  }

  #list(type: GoType, value: JsonValue): void {
    if (!Array.isArray(value)) return this.#mismatch(kindOfJson(value), type.goName);
    const outer = this.#struct;
    for (const item of value) if (type.items !== undefined) this.#type(type.items, item);
    this.#struct = outer;
  }

  #map(type: GoType, value: JsonValue): void {
    if (!isJsonObject(value)) return this.#mismatch(kindOfJson(value), type.goName);
    const outer = this.#struct;
    for (const key in value) if (type.items !== undefined) this.#type(type.items, value[key] ?? null);
    this.#struct = outer;
  }

  #scalar(type: GoType, value: JsonValue): void {
    switch (type.kind) {
      case 'string':
        if (typeof value !== 'string') this.#mismatch(kindOfJson(value), type.goName);
        return;
      case 'bool':
        if (typeof value !== 'boolean') this.#mismatch(kindOfJson(value), type.goName);
        return;
      case 'int32':
      case 'int64':
      case 'float64':
        return this.#number(type, value);
      case 'bytes':
        return this.#bytes(type, value);
      default:
        return this.#special(type, value);
    }
  }

  #number(type: GoType, value: JsonValue): void {
    if (typeof value !== 'number') return this.#mismatch(kindOfJson(value), type.goName);
    const limit = type.kind === 'int32' ? 2 ** 31 : 2 ** 63;
    if (type.kind === 'float64' || isInteger(value, limit)) return;
    this.#mismatch(`number ${value}`, type.goName);
  }

  #bytes(type: GoType, value: JsonValue): void {
    if (typeof value === 'string') {
      if (canonicalBase64(value) === undefined) {
        this.first ??= `illegal base64 data at input byte ${base64FaultOffset(value)}`;
      }
    } else if (Array.isArray(value)) {
      for (const item of value) this.#byte(item);
    } else {
      this.#mismatch(kindOfJson(value), type.goName);
    }
  }

  #byte(value: JsonValue): void {
    if (value === null || (isInteger(value, 256) && Number(value) >= 0)) return;
    this.#mismatch(typeof value === 'number' ? `number ${value}` : kindOfJson(value), 'uint8');
  }

  #special(type: GoType, value: JsonValue): void {
    switch (type.kind) {
      case 'quantity':
        return refuseQuantity(value);
      case 'intOrString':
        if (typeof value === 'string' || isInteger(value, 2 ** 31)) return;
        throw new Refusal(
          this.#typeFault(typeof value === 'number' ? `number ${value}` : kindOfJson(value), 'int32'),
        );
      case 'time':
      case 'microTime':
        if (typeof value !== 'string') throw new Refusal(this.#typeFault(kindOfJson(value), 'string'));
        return refuseTime(type, value);
      default:
    }
  }

  /** Unions decode their parts apart, but their faults are told with the whole path. */
  #union(type: GoType, value: JsonValue): void {
    if (type.kind === 'schemaOrBool' && !isJsonObject(value) && typeof value !== 'boolean') {
      throw new Refusal('boolean or JSON schema expected');
    }
    for (const part of Array.isArray(value) ? value : [value]) {
      const fault = partFault(type, part, Array.isArray(value));
      if (typeof fault === 'string') throw new Refusal(fault);
      if (fault !== undefined) throw new Refusal(this.#typeFault(fault.found, fault.goName, fault.path));
    }
  }
}

function isInteger(value: JsonValue, limit: number): boolean {
  return Number.isInteger(value) && Number(value) >= -limit && Number(value) < limit;
}

function refuseQuantity(value: JsonValue): void {
  try {
    parseQuantity(typeof value === 'string' ? value.trim() : JSON.stringify(value));
  } catch (error) {
    if (error instanceof QuantitySyntaxError) throw new Refusal(error.message);
    throw error;
  }
}

function refuseTime(type: GoType, value: string): void {
  try {
    if (type.kind === 'time') canonicalTime(value);
    else canonicalMicroTime(value);
  } catch (error) {
    if (error instanceof TimeSyntaxError) throw new Refusal(error.message);
    throw error;
  }
}

function partFault(type: GoType, part: JsonValue, isItem: boolean): Fault | undefined {
  if (type.struct === undefined || part === null) return undefined;
  if (type.kind === 'schemaOrStringArray' && isItem) {
    if (typeof part === 'string') return undefined;
    return { found: kindOfJson(part), goName: 'string', struct: undefined, path: [] };
  }
  return isItem || isJsonObject(part) ? faultOf(type.struct, part) : undefined;
}

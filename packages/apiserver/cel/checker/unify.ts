import { type CelType, dynType, isDynamic, typeParam } from './type.ts';

const nullable = new Set(['timestamp', 'duration', 'object']);

/**
 * What type parameters stand for in one expression. `assign` binds parameters only if the whole list fits, so that
 * overloads can be tried one after the other.
 */
export class Substitution {
  #bound = new Map<string, CelType>();
  #fresh = 0;

  /** A parameter that nothing else uses. */
  freshParam(): CelType {
    return typeParam(`_var${this.#fresh++}`);
  }

  /** The type with its bound parameters replaced; unbound ones become dyn if `open` is false. */
  resolve(type: CelType, open = true): CelType {
    if (type.kind === 'param') {
      const bound = this.#bound.get(type.name);
      if (bound) return this.resolve(bound, open);
      return open ? type : dynType;
    }
    if (type.params.length === 0) return type;
    return { ...type, params: type.params.map((param) => this.resolve(param, open)) };
  }

  /** The type a parameter stands for, without looking inside. */
  #look(type: CelType): CelType {
    let current = type;
    while (current.kind === 'param') {
      const bound = this.#bound.get(current.name);
      if (!bound) return current;
      current = bound;
    }
    return current;
  }

  /** Whether a value of each type in `from` may stand where the type in `to` is expected. Binds parameters. */
  assign(to: readonly CelType[], from: readonly CelType[]): boolean {
    if (to.length !== from.length) return false;
    const before = new Map(this.#bound);
    const fits = to.every((type, index) => this.#fit(type, from[index] ?? dynType));
    if (!fits) this.#bound = before;
    return fits;
  }

  #fit(to: CelType, from: CelType): boolean {
    const left = this.#look(to);
    const right = this.#look(from);
    if (left.kind === 'param' || right.kind === 'param') return this.#bindEither(left, right);
    if (isDynamic(left) || isDynamic(right)) return true;
    if (left.kind === 'null') return right.kind === 'null' || nullable.has(right.kind);
    if (right.kind === 'null') return nullable.has(left.kind);
    return this.#fitConcrete(left, right);
  }

  #fitConcrete(left: CelType, right: CelType): boolean {
    if (left.kind !== right.kind) return false;
    if (left.kind === 'type') return true;
    if (left.kind === 'object') return left.fields === right.fields;
    if (left.name !== right.name || left.params.length !== right.params.length) return false;
    return left.params.every((param, index) => this.#fit(param, right.params[index] ?? dynType));
  }

  #bindEither(left: CelType, right: CelType): boolean {
    if (left.kind === 'param' && right.kind === 'param' && left.name === right.name) return true;
    if (left.kind === 'param') return this.#bind(left, right);
    return this.#bind(right, left);
  }

  #bind(param: CelType, type: CelType): boolean {
    if (this.#occurs(param.name, type)) return false;
    this.#bound.set(param.name, type);
    return true;
  }

  #occurs(name: string, type: CelType): boolean {
    const looked = this.#look(type);
    if (looked.kind === 'param') return looked.name === name;
    return looked.params.some((param) => this.#occurs(name, param));
  }
}

/** `type` with each parameter replaced by one that nothing else uses. */
export function freshen(type: CelType, fresh: (name: string) => CelType): CelType {
  if (type.kind === 'param') return fresh(type.name);
  if (type.params.length === 0) return type;
  return { ...type, params: type.params.map((param) => freshen(param, fresh)) };
}

import type { Parameter } from './operation.ts';

interface ParameterData {
  readonly description: string;
  readonly type: string;
  readonly in?: string;
}

interface ParameterFile {
  readonly shared: Readonly<Record<string, ParameterData>>;
  readonly connect: Readonly<Record<string, readonly (ParameterData & { readonly name: string })[]>>;
}

/** The parameters requests can have. Loaded with the first document, as the descriptions are long. */
export class ParameterCatalogue {
  readonly #shared = new Map<string, Parameter>();
  readonly #connect = new Map<string, readonly Parameter[]>();

  static async load(): Promise<ParameterCatalogue> {
    const module = await import('./generated/parameters.json', { with: { type: 'json' } });
    return new ParameterCatalogue(module.default);
  }

  constructor(file: ParameterFile) {
    for (const [key, data] of Object.entries(file.shared)) {
      const name = key === 'fieldManagerOfApply' ? 'fieldManager' : key;
      const place = data.in === 'path' ? 'path' : 'query';
      this.#shared.set(key, { key, name, in: place, type: data.type, description: data.description });
    }
    for (const [key, list] of Object.entries(file.connect)) {
      const parameters = list.map(({ name, type, description }): Parameter => {
        return { key: `${key}/${name}`, name, in: 'query', type, description };
      });
      this.#connect.set(key, parameters);
    }
  }

  /** By their keys; unknown keys are left out. */
  shared(keys: readonly string[]): readonly Parameter[] {
    return keys.flatMap((key) => this.#shared.get(key) ?? []);
  }

  /** The query of a connection, e.g. of `pods/exec`. */
  ofConnection(resource: string, subresource: string): readonly Parameter[] {
    return this.#connect.get(`${resource}/${subresource}`) ?? [];
  }
}

export function nameParameter(kind: string): Parameter {
  const description = `name of the ${kind}`;
  return { key: `name/${kind}`, name: 'name', in: 'path', type: 'string', description };
}

export const restOfPath: Parameter = {
  key: 'path/rest',
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'path to the resource',
};

import type { GroupVersionKind } from '@sheaf/api';

export type HttpMethod = 'delete' | 'get' | 'head' | 'options' | 'patch' | 'post' | 'put';

/** One path of an OpenAPI document, before it takes the form of version 2 or 3. */
export interface PathDescription {
  readonly path: string;
  /** Parameters that every operation of the path has. */
  readonly parameters: readonly Parameter[];
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly method: HttpMethod;
  readonly id: string;
  readonly description: string;
  readonly tag: string;
  /** `x-kubernetes-action`; paths that are no resources have none. */
  readonly action?: string;
  readonly kind?: GroupVersionKind;
  readonly parameters: readonly Parameter[];
  readonly body?: Body;
  readonly answers: readonly Answer[];
  readonly produces: readonly string[];
}

export interface Body {
  /** Name of the definition. */
  readonly schema: string;
  readonly consumes: readonly string[];
  readonly isRequired: boolean;
}

export interface Answer {
  readonly code: 200 | 201 | 202;
  /** Name of the definition; `undefined` for plain text. */
  readonly schema: string | undefined;
}

export interface Parameter {
  /** Tells parameters of the same name apart. */
  readonly key: string;
  readonly name: string;
  readonly in: 'query' | 'path';
  readonly type: string;
  readonly description: string;
}

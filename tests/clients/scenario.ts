/** The kinds that the steps of a client scenario name. */
export interface ScenarioResource {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
}

/** One operation that every client program performs in its own way. */
export interface ClientStep {
  readonly name: string;
  readonly op:
    | 'create'
    | 'get'
    | 'list'
    | 'update'
    | 'patch'
    | 'apply'
    | 'delete'
    | 'delete-collection'
    | 'watch'
    | 'events'
    | 'informer'
    | 'cached';
  readonly resource?: string;
  readonly object?: object;
  readonly target?: string;
  readonly show?: readonly string[];
  readonly type?: 'json' | 'merge' | 'strategic';
  readonly body?: unknown;
  readonly set?: object;
  readonly stale?: boolean;
  readonly subresource?: string;
  readonly manager?: string;
  readonly force?: boolean;
  readonly uid?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly limit?: number;
  /** The name under which a watch or informer is known to later steps. */
  readonly as?: string;
  readonly until?: string;
  readonly names?: readonly string[];
  /** What every client must report; absent: nothing to compare. */
  readonly expect?: unknown;
}

export interface Scenario {
  readonly resources: Readonly<Record<string, ScenarioResource>>;
  readonly steps: readonly ClientStep[];
}

export interface StepResult {
  readonly step: string;
  readonly result: unknown;
}

/** One figure of one server in one round. */
export interface Measure {
  readonly name: string;
  readonly unit: string;
  readonly better: 'lower' | 'higher';
  readonly value: number;
  /** In the JSON only, not in the table. */
  readonly detail?: boolean;
}

export type Record = (measure: Measure) => void;

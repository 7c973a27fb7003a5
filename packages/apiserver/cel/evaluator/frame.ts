import type { Meter } from '../values/equality.ts';
import { costLimitMessage, EvaluationCancelled } from '../values/failure.ts';
import type { Value } from '../values/value.ts';

/** Steps of uncounted work for each unit of the cost limit. */
const stepsPerUnit = 1;

/** One run of an expression: its variables and what it has cost. */
export class Frame implements Meter {
  readonly slots: Value[];
  cost = 0;
  readonly #limit: number;
  #stepsLeft: number;

  constructor(slots: Value[], limit: number) {
    this.slots = slots;
    this.#limit = limit;
    this.#stepsLeft = limit * stepsPerUnit;
  }

  charge(units: number): void {
    this.cost += units;
    if (this.cost > this.#limit) throw new EvaluationCancelled(costLimitMessage);
  }

  step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new EvaluationCancelled(costLimitMessage);
  }
}

export type Evaluate = (frame: Frame) => Value;

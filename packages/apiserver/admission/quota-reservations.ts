import type { AdmissionRequest } from './plugin.ts';
import { type Amounts, addAmounts } from './pod-resources.ts';

interface Reservation {
  readonly amounts: Amounts;
  /** Whether the write has become visible: then the object itself counts. */
  isDone(): boolean;
}

/** What writes under way have been promised, by quota. */
export class Reservations {
  readonly #byQuota = new Map<string, Set<Reservation>>();
  readonly #isVisible: (request: AdmissionRequest) => boolean;

  constructor(isVisible: (request: AdmissionRequest) => boolean) {
    this.#isVisible = isVisible;
  }

  /** Ends with the write. */
  add(request: AdmissionRequest, quota: string, amounts: Amounts): void {
    const reservation = { amounts, isDone: () => this.#isVisible(request) };
    const known = this.#byQuota.get(quota);
    if (known) known.add(reservation);
    else this.#byQuota.set(quota, new Set([reservation]));
    request.onEnd(() => this.#remove(quota, reservation));
  }

  of(quota: string): Amounts {
    const sum: Amounts = new Map();
    for (const reservation of this.#byQuota.get(quota) ?? [])
      if (!reservation.isDone()) addAmounts(sum, reservation.amounts);
    return sum;
  }

  #remove(quota: string, reservation: Reservation): void {
    const known = this.#byQuota.get(quota);
    known?.delete(reservation);
    if (known?.size === 0) this.#byQuota.delete(quota);
  }
}

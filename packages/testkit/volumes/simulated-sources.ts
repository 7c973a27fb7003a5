/** One answer of a simulated server. */
export interface SimulatedAnswer {
  readonly content: Uint8Array;
  readonly status?: number;
  readonly etag?: string;
  readonly breaksAfter?: number;
  readonly stallsAfter?: number;
  readonly hidesLength?: boolean;
  readonly trustsAsker?: boolean;
}

/** Servers that images are downloaded from; what they answer is given. */
export class SimulatedSources {
  readonly #offers = new Map<string, { readonly answers: readonly SimulatedAnswer[]; asked: number }>();

  /** The answers in turn, the last one again and again. */
  offer(url: string, answers: readonly SimulatedAnswer[]): void {
    this.#offers.set(url, { answers, asked: 0 });
  }

  ask(url: string): SimulatedAnswer {
    const offer = this.#offers.get(url);
    const answer = offer?.answers[Math.min(offer.asked++, offer.answers.length - 1)];
    return answer ?? { content: new Uint8Array(), status: 404 };
  }
}

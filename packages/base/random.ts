/** Randomness as the code may see it. Injected by the composition root; the testkit's is seeded. */
export interface Random {
  /** Cryptographically strong in production. */
  bytes(length: number): Uint8Array;
  /** A version 4 UUID in lower case. */
  uuid(): string;
  /** A whole number in [0, below). */
  integer(below: number): number;
}

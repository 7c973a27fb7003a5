/** How much is measured. The figures of `quick` only show that everything runs. */
export interface Sizes {
  readonly rounds: number;
  readonly loops: readonly { readonly clients: number; readonly total: number }[];
  readonly population: number;
  /** What the collection that is deleted has in all. */
  readonly collection: number;
  readonly lists: number;
  readonly watchers: number;
  readonly writesPerSecond: number;
  readonly watchSeconds: number;
  readonly events: number;
  readonly settleMilliseconds: number;
}

export const fullSizes: Sizes = {
  rounds: 3,
  loops: [
    { clients: 1, total: 300 },
    { clients: 16, total: 1500 },
    { clients: 64, total: 3000 },
  ],
  population: 10_000,
  collection: 18_000,
  lists: 5,
  watchers: 100,
  writesPerSecond: 200,
  watchSeconds: 10,
  events: 300,
  settleMilliseconds: 10_000,
};

export const quickSizes: Sizes = {
  rounds: 1,
  loops: [
    { clients: 1, total: 20 },
    { clients: 16, total: 64 },
    { clients: 64, total: 128 },
  ],
  population: 200,
  collection: 300,
  lists: 1,
  watchers: 10,
  writesPerSecond: 50,
  watchSeconds: 2,
  events: 20,
  settleMilliseconds: 500,
};

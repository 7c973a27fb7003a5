import type { DiskFile } from '@sheaf/ports';

/** What is known of the claim behind a volume. */
export type ClaimFact =
  | { readonly state: 'missing' }
  /** It has no volume yet. */
  | { readonly state: 'unbound' }
  /** Its content is on its way: an image, a copy of another volume. */
  | { readonly state: 'preparing'; readonly percent?: number }
  /** Someone must act. */
  | { readonly state: 'failed'; readonly message: string; readonly wayOut: string }
  /** `isBusy`: a machine that is started now would find it locked; one that runs goes on. */
  | { readonly state: 'ready'; readonly file: DiskFile; readonly isBusy: boolean };

export type ClaimFacts = ReadonlyMap<string, ClaimFact>;

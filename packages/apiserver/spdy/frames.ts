import type { Headers } from './header-block.ts';

/** What the two sides of a SPDY/3.1 session tell each other, as far as anything follows from it. */
export type Frame =
  | { readonly kind: 'open'; readonly streamId: number; readonly headers: Headers; readonly isLast: boolean }
  | { readonly kind: 'reply'; readonly streamId: number; readonly headers: Headers; readonly isLast: boolean }
  /** A part of what one frame carries; `isLast` comes with the last part. */
  | { readonly kind: 'data'; readonly streamId: number; readonly bytes: Uint8Array; readonly isLast: boolean }
  | { readonly kind: 'reset'; readonly streamId: number; readonly status: number }
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'go-away' };

export const frameTypes = {
  open: 1,
  reply: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  headers: 8,
  windowUpdate: 9,
} as const;

export const version = 3;
export const lastFlag = 0x01;
export const headBytes = 8;
export const controlBit = 0x80000000;
export const streamIdBits = 0x7fffffff;

export const resetStatuses = { protocolError: 1, refused: 3, cancelled: 5 } as const;

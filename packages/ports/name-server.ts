import type { Disposable } from '@sheaf/base';
import type { ProxyBackend } from './service-proxy.ts';

/** In lower case, without a dot at its end. */
export interface NameQuestion {
  readonly name: string;
  /** `A`, `SRV` …; `TYPE65` for those without a name here. */
  readonly type: string;
}

export type NameRecord = { readonly name: string } & (
  | { readonly type: 'A'; readonly address: string }
  | { readonly type: 'AAAA'; readonly address: string }
  | { readonly type: 'CNAME' | 'PTR' | 'NS'; readonly target: string }
  | { readonly type: 'SRV'; readonly weight: number; readonly port: number; readonly target: string }
  | { readonly type: 'TXT'; readonly text: string }
  | { readonly type: 'SOA'; readonly server: string; readonly mailbox: string; readonly serial: number }
);

export type NameAnswer =
  /** Of one of our zones. No records at all: the name is there, but nothing of that type. `further`: what is likely to be asked next. */
  | {
      readonly kind: 'records';
      readonly zone: string;
      readonly records: readonly NameRecord[];
      readonly further?: readonly NameRecord[];
    }
  /** There is no such name in one of our zones. */
  | { readonly kind: 'absent'; readonly zone: string }
  /** Another name for something, here or elsewhere; what that has is answered, too. */
  | { readonly kind: 'alias'; readonly target: string }
  /** Somebody else knows: the resolvers of this host are asked. */
  | { readonly kind: 'elsewhere' }
  /** Nobody knows yet; asking again helps. */
  | { readonly kind: 'later' };

/**
 * Answers questions for names over UDP and TCP, on the loopback of this host. Answers are short-lived, so that what has changed is seen soon.
 * A question that cannot be read is answered as the protocol says; one that nobody answers elsewhere is answered as failed within
 * bounded time, and does not keep others waiting.
 */
export interface NameServer extends Disposable {
  /** Begins to answer. `answer` must not throw, and is asked for each question. */
  start(answer: (question: NameQuestion) => NameAnswer): Promise<ProxyBackend>;
  /** Where names are looked for on this host that are given without their domain. */
  searches(): readonly string[];
}

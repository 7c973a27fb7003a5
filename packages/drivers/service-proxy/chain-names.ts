import { createHash } from 'node:crypto';

/** Chains of one directory of Sheaf: others on the same host have another mark. At most 28 characters each. */
export interface ChainNames {
  /** What all of them begin with. */
  readonly prefix: string;
  /** What pods and this host send to addresses of Services. */
  readonly inside: string;
  /** What comes to ports of this host and to external addresses. */
  readonly outside: string;
  /** What leaves with an address of this host. */
  readonly masquerade: string;
  /** Refuses what nobody takes. */
  readonly refuse: string;
  /** What pods may send to the loopback of this host. */
  readonly guard: string;
  /** What may be forwarded to pods, whatever else the host forwards. */
  readonly pass: string;
  /** Holds the rules of a trial. */
  readonly trial: string;
  /** Of one port of a Service. */
  backends(key: string): string;
}

/** `mark`: ten hexadecimal digits */
export function chainNames(mark: string): ChainNames {
  const prefix = `SHEAF-${mark}-`;
  return {
    prefix,
    inside: `${prefix}INSIDE`,
    outside: `${prefix}OUTSIDE`,
    masquerade: `${prefix}MASQ`,
    refuse: `${prefix}REFUSE`,
    guard: `${prefix}GUARD`,
    pass: `${prefix}PASS`,
    trial: `${prefix}TRIAL`,
    backends: (key) => `${prefix}${digest(key, 10).toUpperCase()}`,
  };
}

/** As many hexadecimal digits. */
export function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}

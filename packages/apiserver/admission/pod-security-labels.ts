import { type FieldError, invalid } from '@sheaf/api';

const levels = ['privileged', 'baseline', 'restricted'] as const;

export type SecurityLevel = (typeof levels)[number];

export interface LevelVersion {
  readonly level: SecurityLevel;
  /** The minor version of the policy; infinite for the latest. */
  readonly minor: number;
}

/** What the labels of a namespace want for its pods. */
export interface SecurityPolicy {
  readonly enforce: LevelVersion;
  readonly audit: LevelVersion;
  readonly warn: LevelVersion;
  readonly errors: readonly FieldError[];
}

const prefix = 'pod-security.kubernetes.io/';
const free: LevelVersion = { level: 'privileged', minor: Infinity };

export function readSecurityPolicy(labels: Readonly<Record<string, string>> | undefined): SecurityPolicy {
  const reader = new LabelReader(labels ?? {});
  const enforce = { level: reader.level('enforce', 'restricted'), minor: reader.minor('enforce') };
  const hasEnforce = reader.has('enforce') && reader.errors.length === 0;
  const audit = { level: reader.level('audit', 'privileged'), minor: reader.minor('audit') };
  let warn: LevelVersion = { level: reader.level('warn', 'privileged'), minor: reader.minor('warn') };
  if (!reader.has('warn') && hasEnforce && enforce.level !== 'privileged')
    warn = { level: enforce.level, minor: reader.has('warn-version') ? warn.minor : enforce.minor };
  return { enforce, audit, warn, errors: reader.errors };
}

export const freePolicy: SecurityPolicy = { enforce: free, audit: free, warn: free, errors: [] };

/** Whether nothing is asked of pods. */
export function isFree({ enforce, audit, warn }: SecurityPolicy): boolean {
  return [enforce, audit, warn].every(({ level }) => level === 'privileged');
}

/** `restricted:latest` */
export function levelText({ level, minor }: LevelVersion): string {
  return `${level}:${minor === Infinity ? 'latest' : `v1.${minor}`}`;
}

/** Negative, zero or positive as `a` is less strict than, as strict as, or stricter than `b`. */
export function compareLevels(a: SecurityLevel, b: SecurityLevel): number {
  return levels.indexOf(a) - levels.indexOf(b);
}

class LabelReader {
  readonly errors: FieldError[] = [];
  readonly #labels: Readonly<Record<string, string>>;

  constructor(labels: Readonly<Record<string, string>>) {
    this.#labels = labels;
  }

  has(name: string): boolean {
    return Object.hasOwn(this.#labels, prefix + name);
  }

  level(name: string, otherwise: SecurityLevel): SecurityLevel {
    if (!this.has(name)) return 'privileged';
    const text = this.#labels[prefix + name];
    const known = levels.find((level) => level === text);
    if (known) return known;
    this.#refuse(name, `must be one of ${levels.join(', ')}`);
    return otherwise;
  }

  minor(name: string): number {
    const label = `${name}-version`;
    const text = this.has(label) ? this.#labels[prefix + label] : 'latest';
    if (text === 'latest') return Infinity;
    const match = /^v1\.(0|[1-9]\d{0,8})$/.exec(text ?? '');
    if (match) return Number(match[1]);
    this.#refuse(label, 'must be "latest" or "v1.x"');
    return Infinity;
  }

  #refuse(name: string, detail: string): void {
    const label = prefix + name;
    this.errors.push(invalid(`metadata.labels[${label}]`, this.#labels[label], detail));
  }
}

import { type Clock, type Logger, StatusError, toError } from '@sheaf/base';
import { type ChainNames, chainNames } from './chain-names.ts';
import { orphanedMarks } from './rule-owner.ts';
import { type RulePrograms, RulesRefused, restoreRules, savedTables } from './rule-programs.ts';
import type { RuleSet } from './rule-set.ts';
import { ownPart, type RuleText, ruleText } from './rule-text.ts';

interface Applied {
  /** The rules that were given. */
  readonly given: string;
  /** How the kernel tells them. */
  readonly seen: string;
}

/** So long is believed what was seen in the kernel, while nothing else is wanted: others change our rules by mistake alone. */
export interface RuleTrust {
  readonly clock: Clock;
  readonly milliseconds: number;
}

export interface KernelRulesOptions {
  readonly chains: ChainNames;
  readonly logger: Logger;
  readonly findPrograms: () => RulePrograms | undefined;
  /** Absent: it is looked at each time. */
  readonly trust?: RuleTrust;
}

export const noRules: RuleSet = { jumps: [], rules: [] };

/** The rules of one Service are refused; without them, those of the others may be taken. */
export class ServiceRefused extends Error {
  readonly serviceId: string;

  constructor(serviceId: string, words: string) {
    super(words.replaceAll(/\s+/g, ' '));
    this.serviceId = serviceId;
  }
}

/** Our rules in the kernel, looked at before each change. */
export class KernelRules {
  readonly #options: KernelRulesOptions;
  #applied: Applied | undefined;
  /** Until when, on the monotonic clock, it is believed to be there still. */
  #trustedUntil = Number.NEGATIVE_INFINITY;

  constructor(options: KernelRulesOptions) {
    this.#options = options;
  }

  /** True if something had to be changed. @throws ServiceRefused, or a StatusError where no rules can be had at all */
  async bring(wanted: RuleSet): Promise<boolean> {
    const { chains, findPrograms } = this.#options;
    const programs = findPrograms();
    if (!programs) throw unavailable('iptables is not installed', 'apt-get install iptables');
    const given = JSON.stringify(wanted);
    if (this.#isTrusted(given)) return false;
    const saved = await savedTables(programs);
    const seen = ownPart(saved, chains);
    if (this.#isDone({ given, seen })) return false;
    this.#applied = undefined;
    if (wanted === noRules && seen === '') return false;
    const text = ruleText(wanted, saved, chains);
    await restoreRules(programs, text.text).catch((error: unknown) => {
      throw explained(error, text.lines);
    });
    this.#applied = { given, seen: ownPart(await savedTables(programs), chains) };
    this.#trust();
    return true;
  }

  /** Takes away what dead Sheafs of this host have left. */
  async sweep(): Promise<void> {
    const { findPrograms, logger } = this.#options;
    const programs = findPrograms();
    if (!programs) return;
    for (const mark of await orphanedMarks(await savedTables(programs))) {
      logger.info('rules of a Sheaf that is not there any more are taken away', { mark });
      await restoreRules(programs, ruleText(noRules, await savedTables(programs), chainNames(mark)).text);
    }
  }

  #isDone({ given, seen }: Applied): boolean {
    if (this.#applied?.given !== given) return false;
    const isThere = this.#applied.seen === seen;
    if (isThere) this.#trust();
    else
      this.#options.logger.warn('rules of Services were changed by somebody else; they are made again', {});
    return isThere;
  }

  #isTrusted(given: string): boolean {
    const { trust } = this.#options;
    return (
      this.#applied?.given === given && trust !== undefined && trust.clock.monotonic() < this.#trustedUntil
    );
  }

  #trust(): void {
    const { trust } = this.#options;
    if (trust) this.#trustedUntil = trust.clock.monotonic() + trust.milliseconds;
  }
}

/** Whose fault it is. */
function explained(error: unknown, lines: RuleText['lines']): Error {
  const { message } = toError(error);
  const rule = error instanceof RulesRefused && error.line !== undefined ? lines.get(error.line) : undefined;
  if (rule?.serviceId !== undefined) return new ServiceRefused(rule.serviceId, message);
  return unavailable(`the kernel does not take rules: ${message}`, 'see what iptables says');
}

export function unavailable(reason: string, wayOut: string): StatusError {
  return new StatusError({
    reason: 'ServiceUnavailable',
    message: `Services cannot be served: ${reason}; ${wayOut}`,
  });
}

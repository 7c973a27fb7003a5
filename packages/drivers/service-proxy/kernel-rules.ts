import { type Logger, StatusError, toError } from '@sheaf/base';
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
  readonly #chains: ChainNames;
  readonly #logger: Logger;
  readonly #findPrograms: () => RulePrograms | undefined;
  #applied: Applied | undefined;

  constructor(chains: ChainNames, logger: Logger, findPrograms: () => RulePrograms | undefined) {
    this.#chains = chains;
    this.#logger = logger;
    this.#findPrograms = findPrograms;
  }

  /** True if something had to be changed. @throws ServiceRefused, or a StatusError where no rules can be had at all */
  async bring(wanted: RuleSet): Promise<boolean> {
    const programs = this.#findPrograms();
    if (!programs) throw unavailable('iptables is not installed', 'apt-get install iptables');
    const saved = await savedTables(programs);
    const seen = ownPart(saved, this.#chains);
    const given = JSON.stringify(wanted);
    if (this.#isDone({ given, seen }) || (wanted === noRules && seen === '')) return false;
    const text = ruleText(wanted, saved, this.#chains);
    this.#applied = undefined;
    await restoreRules(programs, text.text).catch((error: unknown) => {
      throw explained(error, text.lines);
    });
    this.#applied = { given, seen: ownPart(await savedTables(programs), this.#chains) };
    return true;
  }

  /** Takes away what dead Sheafs of this host have left. */
  async sweep(): Promise<void> {
    const programs = this.#findPrograms();
    if (!programs) return;
    for (const mark of await orphanedMarks(await savedTables(programs))) {
      this.#logger.info('rules of a Sheaf that is not there any more are taken away', { mark });
      await restoreRules(programs, ruleText(noRules, await savedTables(programs), chainNames(mark)).text);
    }
  }

  #isDone({ given, seen }: Applied): boolean {
    if (this.#applied?.given !== given) return false;
    const isThere = this.#applied.seen === seen;
    if (!isThere)
      this.#logger.warn('rules of Services were changed by somebody else; they are made again', {});
    return isThere;
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

import { type Logger, toError } from '@sheaf/base';
import type { ProxiedService, ServiceProblem, ServiceProxy, ServiceProxyCapabilities } from '@sheaf/ports';
import { TaskQueue, untilAborted } from '../qemu/task-queue.ts';
import { isOnLoopback } from './backend-rules.ts';
import { type ChainNames, chainNames } from './chain-names.ts';
import { KernelRules, noRules, type RuleTrust, ServiceRefused, unavailable } from './kernel-rules.ts';
import { PodBridge } from './pod-bridge.ts';
import { PortClaims } from './port-claims.ts';
import { nothingProbed, probeRules } from './proxy-probe.ts';
import { RuleOwner } from './rule-owner.ts';
import { findRulePrograms, type RulePrograms } from './rule-programs.ts';
import { type RuleContext, ruleSet } from './rule-set.ts';
import { notSticky, refused, withoutTaken } from './service-problems.ts';
import { findFlowProgram, moveUdpClients } from './udp-moves.ts';

export interface ServiceProxyOptions {
  /** Ten hexadecimal digits: another one for each directory of Sheaf on this host. */
  readonly mark: string;
  /** It is there as long as a pod is. */
  readonly bridgeName: string;
  /** Such as `10.43.0.0/16`. */
  readonly serviceNetwork: string;
  readonly logger: Logger;
  /** Absent: the kernel is looked at in each call. */
  readonly trust?: RuleTrust;
  /** Those of the host, if absent. */
  readonly findPrograms?: () => RulePrograms | undefined;
}

/** Services as rules of the kernel; see docs/architecture/services.md. */
export class RuleServiceProxy implements ServiceProxy {
  readonly #options: ServiceProxyOptions;
  readonly #chains: ChainNames;
  readonly #bridge: PodBridge;
  readonly #findPrograms: () => RulePrograms | undefined;
  readonly #rules: KernelRules;
  readonly #claims = new PortClaims();
  readonly #owner: RuleOwner;
  readonly #queue = new TaskQueue();
  #capabilities: ServiceProxyCapabilities = nothingProbed;
  /** Nothing of ours is on the host. */
  #isClear = false;
  #hasBegun = false;

  constructor(options: ServiceProxyOptions) {
    this.#options = options;
    this.#chains = chainNames(options.mark);
    this.#bridge = new PodBridge(options.bridgeName);
    this.#owner = new RuleOwner(options.mark);
    this.#findPrograms = options.findPrograms ?? findRulePrograms;
    this.#rules = new KernelRules({
      ...options,
      chains: this.#chains,
      findPrograms: this.#findPrograms,
    });
  }

  capabilities(): ServiceProxyCapabilities {
    return this.#capabilities;
  }

  async probe(signal: AbortSignal): Promise<ServiceProxyCapabilities> {
    return await this.#inTurn(signal, async () => {
      this.#capabilities = await probeRules(this.#chains, this.#findPrograms());
      return this.#capabilities;
    });
  }

  async apply(services: readonly ProxiedService[], signal: AbortSignal): Promise<readonly ServiceProblem[]> {
    return await this.#inTurn(signal, () => this.#apply(services));
  }

  async release(signal: AbortSignal): Promise<void> {
    await this.#inTurn(signal, async () => {
      if (!this.#bridge.isThere) await this.#clear();
    });
  }

  dispose(): void {
    this.#claims.dispose();
    this.#owner.dispose();
  }

  async #inTurn<T>(signal: AbortSignal, task: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    return await untilAborted(this.#queue.run(task), signal);
  }

  async #apply(services: readonly ProxiedService[]): Promise<readonly ServiceProblem[]> {
    if (!this.#isNeeded(services)) {
      await this.#clear();
      return [];
    }
    const { services: can, affinity } = this.#capabilities;
    if (!can.isAvailable) throw unavailable(can.reason, can.wayOut ?? '');
    await this.#begin();
    const taken = withoutTaken(services, await this.#claims.hold(services.flatMap(nodePorts)));
    const left = await this.#bring(taken.services, {
      chains: this.#chains,
      bridgeName: this.#bridge.name,
      podSubnet: this.#bridge.subnet,
      serviceNetwork: this.#options.serviceNetwork,
      isBridgeFiltered: await this.#bridge.filter(),
      hasAffinity: affinity.isAvailable,
    });
    await this.#bridge.open();
    return [...taken.problems, ...left, ...notSticky(services, affinity)];
  }

  /** Before the first rule, and again after all of them have gone. */
  async #begin(): Promise<void> {
    if (this.#hasBegun) return;
    await this.#owner.claim();
    await this.#rules
      .sweep()
      .catch((error: unknown) =>
        this.#options.logger.warn('rules of other Sheafs could not be looked at', { cause: toError(error) }),
      );
    [this.#hasBegun, this.#isClear] = [true, false];
  }

  /** Where nothing is, nothing comes by itself: it is looked for what an earlier life left once. */
  async #clear(): Promise<void> {
    await this.#claims.hold([]);
    if (!this.#isClear && this.#findPrograms()) await this.#rules.bring(noRules);
    [this.#hasBegun, this.#isClear] = [false, true];
  }

  /** Without a pod, only what is elsewhere could be reached. */
  #isNeeded(services: readonly ProxiedService[]): boolean {
    const all = services.flatMap(({ ports }) => ports.flatMap(({ backends }) => backends));
    return this.#bridge.isThere || all.some(({ address }) => !isOnLoopback(address));
  }

  /** One whose rules are refused is left out, so that the others are served. */
  async #bring(
    services: readonly ProxiedService[],
    context: RuleContext,
  ): Promise<readonly ServiceProblem[]> {
    const problems: ServiceProblem[] = [];
    let left = services;
    for (;;) {
      try {
        const isChanged = await this.#rules.bring(ruleSet(left, context));
        const program = findFlowProgram();
        if (isChanged && program !== undefined) await moveUdpClients(program, left);
        return problems;
      } catch (error) {
        if (!(error instanceof ServiceRefused)) throw error;
        problems.push(refused(error));
        left = left.filter(({ id }) => id !== error.serviceId);
      }
    }
  }
}

function nodePorts({ ports }: ProxiedService): Parameters<PortClaims['hold']>[0] {
  return ports.flatMap(({ protocol, nodePort }) =>
    nodePort === undefined ? [] : [{ protocol, port: nodePort }],
  );
}

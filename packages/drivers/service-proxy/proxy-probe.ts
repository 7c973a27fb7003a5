import { toError } from '@sheaf/base';
import type { Capability, ServiceProxyCapabilities } from '@sheaf/ports';
import { available, missing } from '../qemu/capabilities.ts';
import { type ChainNames, digest } from './chain-names.ts';
import { type RulePrograms, RulesRefused, restoreRules } from './rule-programs.ts';
import { findFlowProgram } from './udp-moves.ts';

const notYet = missing('nobody has looked yet', 'probe this host');
export const nothingProbed: ServiceProxyCapabilities = {
  services: notYet,
  affinity: notYet,
  udpMoves: notYet,
};

/** The words of each kind of rule that is used, in a chain that nothing leads to. */
const trials = {
  nat: [
    '-p tcp -m statistic --mode random --probability 0.5 -j DNAT --to-destination 127.0.0.1:1',
    '-p udp --dport 1 -m addrtype --dst-type LOCAL -m comment --comment "trial" -j DNAT --to-destination 127.0.0.1:1',
    '-m conntrack --ctstate DNAT -j MASQUERADE',
  ],
  filter: [
    '-p tcp -m conntrack --ctstate NEW -j REJECT --reject-with tcp-reset',
    '-p udp -j REJECT --reject-with icmp-port-unreachable',
  ],
} as const;

/** Finds out what the kernel takes: by giving it one of each. */
export async function probeRules(
  chains: ChainNames,
  programs: RulePrograms | undefined,
): Promise<ServiceProxyCapabilities> {
  const obstacle = obstacleOf(programs);
  if (obstacle || !programs) {
    const services = obstacle ?? notYet;
    return { services, affinity: services, udpMoves: services };
  }
  const services = await tried(programs, trialText(chains, trials), 'rules of the kernel (iptables)');
  const name = `${chains.prefix}${digest('trial', 10)}`;
  const sticky = `-m recent --name ${name} --rcheck --seconds 60 --reap --rsource -m recent --name ${name} --set --rsource`;
  return {
    services,
    affinity: services.isAvailable
      ? await tried(
          programs,
          trialText(chains, { nat: [`-p tcp ${sticky}`], filter: [] }),
          'the match "recent"',
        )
      : services,
    udpMoves: udpMoves(),
  };
}

function obstacleOf(programs: RulePrograms | undefined): Capability | undefined {
  if (process.getuid?.() !== 0) return missing('this process is not root', 'run Sheaf as root');
  return programs ? undefined : missing('iptables is not installed', 'apt-get install iptables');
}

async function tried(programs: RulePrograms, text: string, words: string): Promise<Capability> {
  try {
    await restoreRules(programs, text);
    return available(words);
  } catch (error) {
    if (!(error instanceof RulesRefused)) throw error;
    return missing(
      `the kernel does not take rules: ${toError(error).message.replaceAll(/\s+/g, ' ')}`,
      'load the modules xt_statistic, xt_recent, xt_conntrack, xt_addrtype, nf_nat and ipt_REJECT, or see what iptables says',
    );
  }
}

/** Leaves nothing behind, also where a trial before it was cut off. */
function trialText(
  { trial }: ChainNames,
  rules: Readonly<Record<'nat' | 'filter', readonly string[]>>,
): string {
  const lines = Object.entries(rules).flatMap(([table, words]) => [
    `*${table}`,
    `:${trial} - [0:0]`,
    ...words.map((each) => `-A ${trial} ${each}`),
    'COMMIT',
    `*${table}`,
    `:${trial} - [0:0]`,
    `-X ${trial}`,
    'COMMIT',
  ]);
  return `${lines.join('\n')}\n`;
}

function udpMoves(): Capability {
  const program = findFlowProgram();
  return program === undefined
    ? missing(
        'conntrack is not installed; a UDP client that sends without a pause stays with a pod that is gone',
        'apt-get install conntrack',
      )
    : available(program);
}

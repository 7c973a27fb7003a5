import type { ProxiedPort, ProxiedService, ProxyBackend } from '@sheaf/ports';
import { rangeOf } from '../podman/pod-subnet.ts';
import { backendRules, isOnLoopback } from './backend-rules.ts';
import type { ChainNames } from './chain-names.ts';

export interface RuleContext {
  readonly chains: ChainNames;
  /** The bridge of this directory's pods. */
  readonly bridgeName: string;
  /** Absent as long as there is no pod. */
  readonly podSubnet: string | undefined;
  readonly serviceNetwork: string;
  /** Packets between two pods pass these rules, too, so that answers find their way back; else they are led through this host. */
  readonly isBridgeFiltered: boolean;
  readonly hasAffinity: boolean;
}

export interface Rule {
  readonly table: 'nat' | 'filter';
  readonly chain: string;
  readonly words: string;
  /** For whom it is, if for one Service alone. */
  readonly serviceId?: string;
}

/** A rule in a chain that is everybody's. */
export interface Jump {
  readonly table: 'nat' | 'filter';
  readonly chain: string;
  readonly words: string;
  /** Before what others have there. */
  readonly isFirst: boolean;
}

export interface RuleSet {
  readonly jumps: readonly Jump[];
  readonly rules: readonly Rule[];
}

const refusals = {
  TCP: '-j REJECT --reject-with tcp-reset',
  UDP: '-j REJECT --reject-with icmp-port-unreachable',
} as const;
const toThisHost = '-m addrtype --dst-type LOCAL';

/** All that makes these Services reachable, and nothing else. */
export function ruleSet(services: readonly ProxiedService[], context: RuleContext): RuleSet {
  const rules = services.flatMap((service) =>
    service.ports.flatMap((port) => portRules(service, port, context)),
  );
  return {
    jumps: jumps(context),
    rules: [...rules, ...wayBack(services, context), ...networkRules(context)],
  };
}

/** Pods ask first here, whatever else this host does with these addresses; for the host itself, what was there before comes first. */
function jumps({ chains, bridgeName }: RuleContext): readonly Jump[] {
  const fresh = '-m conntrack --ctstate NEW';
  return [
    { table: 'nat', chain: 'PREROUTING', words: `-i ${bridgeName} -j ${chains.inside}`, isFirst: true },
    { table: 'nat', chain: 'PREROUTING', words: `-j ${chains.outside}`, isFirst: false },
    { table: 'nat', chain: 'OUTPUT', words: `-j ${chains.inside}`, isFirst: false },
    { table: 'nat', chain: 'OUTPUT', words: `-j ${chains.outside}`, isFirst: false },
    { table: 'nat', chain: 'POSTROUTING', words: `-j ${chains.masquerade}`, isFirst: true },
    { table: 'filter', chain: 'INPUT', words: `-i ${bridgeName} -j ${chains.guard}`, isFirst: true },
    { table: 'filter', chain: 'INPUT', words: `${fresh} -j ${chains.refuse}`, isFirst: true },
    { table: 'filter', chain: 'FORWARD', words: `-o ${bridgeName} -j ${chains.pass}`, isFirst: true },
    { table: 'filter', chain: 'FORWARD', words: `${fresh} -j ${chains.refuse}`, isFirst: true },
    { table: 'filter', chain: 'OUTPUT', words: `${fresh} -j ${chains.refuse}`, isFirst: true },
  ];
}

function portRules(service: ProxiedService, port: ProxiedPort, context: RuleContext): readonly Rule[] {
  const { chains } = context;
  const own = `-p ${port.protocol.toLowerCase()} --dport ${port.port}`;
  const inside = service.addresses.map((address) => `-d ${address}/32 ${own}`);
  const outside = service.externalAddresses.map((address) => `-d ${address}/32 ${own}`);
  if (port.nodePort !== undefined)
    outside.push(`-p ${port.protocol.toLowerCase()} --dport ${port.nodePort} ${toThisHost}`);
  // Nobody but pods and this host comes to the loopback.
  const guests = port.outsideBackends.filter(({ address }) => !isOnLoopback(address));
  return [
    ...sideRules(
      { service, port, context },
      { chain: chains.inside, matches: inside, backends: port.backends },
    ),
    ...sideRules({ service, port, context }, { chain: chains.outside, matches: outside, backends: guests }),
  ];
}

interface PortParts {
  readonly service: ProxiedService;
  readonly port: ProxiedPort;
  readonly context: RuleContext;
}

interface Side {
  readonly chain: string;
  /** What leads there. */
  readonly matches: readonly string[];
  readonly backends: readonly ProxyBackend[];
}

function sideRules(
  { service, port, context }: PortParts,
  { chain, matches, backends }: Side,
): readonly Rule[] {
  if (matches.length === 0) return [];
  const { chains, hasAffinity } = context;
  const serviceId = service.id;
  if (backends.length === 0)
    return matches.map((match) => ({
      table: 'filter',
      chain: chains.refuse,
      words: `${match} ${refusals[port.protocol]}`,
      serviceId,
    }));
  const target = chains.backends(`${chain} ${serviceId} ${port.protocol} ${port.port}`);
  const comment = `-m comment --comment "${serviceId}"`;
  const affinity = hasAffinity ? service.affinitySeconds : undefined;
  return [
    ...matches.map(
      (match): Rule => ({ table: 'nat', chain, words: `${match} ${comment} -j ${target}`, serviceId }),
    ),
    ...backendRules({ chain: target, protocol: port.protocol, backends, affinity }).map(
      (words): Rule => ({ table: 'nat', chain: target, words, serviceId }),
    ),
  ];
}

/** Whose answers would otherwise not come back this way: a pod that asks itself, whoever asks by the loopback, what is elsewhere. */
function wayBack(services: readonly ProxiedService[], context: RuleContext): readonly Rule[] {
  const { chains, bridgeName, podSubnet, isBridgeFiltered } = context;
  const rule = (words: string): Rule => ({
    table: 'nat',
    chain: chains.masquerade,
    words: `${words} -j MASQUERADE`,
  });
  const all = new Map(
    services
      .flatMap(({ ports }) => ports.flatMap(targets))
      .map((words): [string, Target] => [words.match, words]),
  );
  const backends = [...all.values()].filter(({ address }) => !isOnLoopback(address));
  const pods = new Set(
    backends.filter(({ address }) => isWithin(address, podSubnet)).map(({ address }) => address),
  );
  return [
    rule(`-s 127.0.0.0/8 -o ${bridgeName}`),
    ...(isBridgeFiltered || podSubnet === undefined
      ? [...pods].map((address) => rule(`-s ${address}/32 -d ${address}/32`))
      : [rule(`-s ${podSubnet} -d ${podSubnet} -m conntrack --ctstate DNAT`)]),
    ...backends
      .filter(({ address }) => !pods.has(address))
      .map(({ match }) => rule(`${match} -m conntrack --ctstate DNAT`)),
  ];
}

interface Target {
  readonly address: string;
  readonly match: string;
}

function targets({ protocol, backends, outsideBackends }: ProxiedPort): readonly Target[] {
  return [...backends, ...outsideBackends].map(({ address, port }) => ({
    address,
    match: `-d ${address}/32 -p ${protocol.toLowerCase()} --dport ${port}`,
  }));
}

/** Pods come to the loopback by Services alone; what nobody has in the network of Services is refused. */
function networkRules({ chains, bridgeName, serviceNetwork }: RuleContext): readonly Rule[] {
  const unknown = (protocol: keyof typeof refusals): Rule => ({
    table: 'filter',
    chain: chains.refuse,
    words: `-i ${bridgeName} -d ${serviceNetwork} -p ${protocol.toLowerCase()} ${refusals[protocol]}`,
  });
  const toLoopback = `-d 127.0.0.0/8 -m conntrack`;
  return [
    unknown('TCP'),
    unknown('UDP'),
    { table: 'filter', chain: chains.guard, words: `${toLoopback} --ctstate DNAT -j ACCEPT` },
    {
      table: 'filter',
      chain: chains.guard,
      words: `${toLoopback} ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP`,
    },
    { table: 'filter', chain: chains.pass, words: '-m conntrack --ctstate DNAT -j ACCEPT' },
  ];
}

function isWithin(address: string, subnet: string | undefined): boolean {
  if (subnet === undefined) return false;
  const { first, last } = rangeOf(subnet);
  const { first: value } = rangeOf(address);
  return first <= value && value <= last;
}

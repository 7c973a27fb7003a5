import { type Condition, withCondition } from '@sheaf/api';
import { leastFreeDiskShare, type NodeCondition } from '@sheaf/api/node/index';
import type { Capability, HostFacts, HypervisorCapabilities } from '@sheaf/ports';

export type NodeAbilities = Pick<HypervisorCapabilities, 'hypervisor' | 'accelerator' | 'bridges'>;

/** What runs the pods of this host. */
export interface NodeContainers {
  /** Pods may run here, if their programs are there; else the node has no room for any. */
  readonly areWanted: boolean;
  readonly containers: Capability;
  /** Name and version of the program, such as `podman 4.3.1`. */
  readonly version?: string;
}

type Claim = Omit<Condition, 'lastTransitionTime'>;

/** Below these, new work would do harm to what runs. */
const leastMemoryBytes = 100 * 2 ** 20;
const mostProcessesShare = 0.95;

export interface ConditionFacts {
  readonly name: string;
  readonly host: HostFacts;
  readonly abilities: NodeAbilities;
  readonly containers: NodeContainers;
}

/** What is claimed of a node. A fact that is not known makes a claim `Unknown`; numbers that change all the time are left out. */
export function nodeClaims({ name, host, abilities, containers }: ConditionFacts): readonly Claim[] {
  const { disk, processes, availableMemoryBytes } = host;
  return [
    pressure(
      'Memory',
      availableMemoryBytes === undefined ? undefined : availableMemoryBytes < leastMemoryBytes,
      {
        enough: 'at least 100Mi of memory are available',
        little: 'less than 100Mi of memory are available; stop a machine',
        hidden: 'the host does not tell how much memory is available',
      },
    ),
    pressure('Disk', disk && disk.availableBytes < disk.totalBytes * leastFreeDiskShare, {
      enough: 'at least a tenth of the disk of the data directory is available',
      little:
        'less than a tenth of the disk of the data directory is available; delete volumes, images or snapshots',
      hidden: 'the disk of the data directory cannot be looked at',
    }),
    pressure('PID', processes && processes.count > processes.limit * mostProcessesShare, {
      enough: 'there are process numbers left',
      little: 'fewer than one in twenty process numbers are left; look for a program that starts too many',
      hidden: 'the host does not tell how many processes it has',
    }),
    runnable('MachinesRunnable', 'Hypervisor', abilities.hypervisor),
    containersRunnable(containers),
    accelerated(abilities),
    ready(name, host),
  ];
}

interface PressureWords {
  readonly enough: string;
  readonly little: string;
  readonly hidden: string;
}

const nouns = { Memory: 'Memory', Disk: 'Disk', PID: 'PID' } as const;

function pressure(
  of: keyof typeof nouns,
  isPressed: boolean | undefined,
  { enough, little, hidden }: PressureWords,
): Claim {
  const type = `${of}Pressure`;
  if (isPressed === undefined) return { type, status: 'Unknown', reason: 'NotTold', message: hidden };
  if (isPressed) return { type, status: 'True', reason: `HasInsufficient${nouns[of]}`, message: little };
  return { type, status: 'False', reason: `HasSufficient${nouns[of]}`, message: enough };
}

function containersRunnable({ areWanted, containers }: NodeContainers): Claim {
  const claim = runnable('ContainersRunnable', 'Containers', containers);
  return areWanted ? claim : { ...claim, reason: 'ContainersUnwanted' };
}

function runnable(type: string, noun: string, { isAvailable, reason, wayOut }: Capability): Claim {
  if (isAvailable) return { type, status: 'True', reason: `${noun}Available`, message: reason };
  const message = wayOut === undefined ? reason : `${reason}; needs someone: ${wayOut}`;
  return { type, status: 'False', reason: `${noun}Unavailable`, message };
}

function accelerated({ hypervisor, accelerator }: NodeAbilities): Claim {
  const type = 'Accelerated';
  if (!hypervisor.isAvailable)
    return {
      type,
      status: 'Unknown',
      reason: 'HypervisorUnavailable',
      message: 'nothing was there to try it with',
    };
  return accelerator.kind === 'kvm'
    ? { type, status: 'True', reason: 'KVM', message: accelerator.reason }
    : { type, status: 'False', reason: 'Emulation', message: accelerator.reason };
}

function ready(name: string, { hostname }: HostFacts): Claim {
  const isRenamed = hostname.toLowerCase() !== name;
  const renamed = isRenamed
    ? `; the host is called ${hostname} now, and its node keeps the name ${name}`
    : '';
  return { type: 'Ready', status: 'True', reason: 'HostReady', message: `Sheaf runs on this host${renamed}` };
}

/** The conditions with the claims among them, each heard of now. Those of others stay as they are. */
export function withClaims(
  old: readonly NodeCondition[],
  claims: readonly Claim[],
  now: string,
): readonly NodeCondition[] {
  const types = new Set(claims.map(({ type }) => type));
  const next = claims.reduce<readonly Condition[]>((all, claim) => withCondition(all, claim, now), old);
  return next.map((condition) =>
    types.has(condition.type) ? { ...condition, lastHeartbeatTime: now } : condition,
  );
}

import { constants } from 'node:os';
import { badRequest } from '@sheaf/base';
import type {
  ContainerMount,
  ContainerResources,
  ContainerSecurity,
  ContainerSpec,
  HostPort,
  SandboxSpec,
} from '@sheaf/ports';
import { inputStays } from './conmon-script.ts';
import { engineLabels, engineName, labelNames, type SandboxSharing } from './engine-names.ts';

interface Namespace {
  readonly nsmode: string;
  readonly value?: string;
}

/** A mount with the place on the host that it comes to. */
export interface ResolvedMount extends ContainerMount {
  readonly source: string;
}

export interface SandboxContext {
  readonly image: string;
  readonly networkName: string;
  readonly logPath: string;
  readonly lowestScore: number;
}

export interface ContainerContext {
  readonly sandbox: SandboxSharing;
  readonly mounts: readonly ResolvedMount[];
  readonly logPath: string;
  /** The lowest out-of-memory score that this process may give. */
  readonly lowestScore: number;
  /** Of the container whose processes it sees. */
  readonly processId?: number;
}

/** Processor time is counted in periods of so many microseconds. */
const cpuPeriod = 100_000;
/** Sandboxes are the last to be ended when memory is short: all of their containers would end with them. */
const sandboxScore = -998;
/** Whoever runs in a pod may use any of its ports, and ping: both are its own. */
const podSettings = {
  'net.ipv4.ip_unprivileged_port_start': '0',
  'net.ipv4.ping_group_range': '0 2147483647',
};
const propagations = { 'host-to-container': 'rslave', bidirectional: 'rshared' } as const;

/** What the engine is asked to make for a sandbox: a container that holds the namespaces and waits. */
export function sandboxRequest(spec: SandboxSpec, context: SandboxContext): Record<string, unknown> {
  return {
    name: engineName('sandbox', spec.id),
    image: context.image,
    labels: {
      ...engineLabels({ role: 'sandbox', sandboxId: spec.id, ...spec }),
      [labelNames.sharing]: JSON.stringify(sharingOf(spec)),
    },
    pidns: { nsmode: spec.processes === 'host' ? 'host' : 'private' },
    ipcns: spec.sharedMemory === 'host' ? { nsmode: 'host' } : { nsmode: 'shareable' },
    ...networkRequest(spec, context.networkName),
    read_only_filesystem: true,
    cap_drop: ['ALL'],
    no_new_privileges: true,
    oom_score_adj: Math.max(sandboxScore, context.lowestScore),
    log_configuration: { driver: 'k8s-file', path: context.logPath },
  };
}

function sharingOf({ processes, sharedMemory, network, ...spec }: SandboxSpec): SandboxSharing {
  const { hostname, domain, hosts, dns } = spec;
  const names = {
    hostname,
    ...(domain !== undefined && { domain }),
    ...(hosts && { hosts }),
    ...(dns && { dns }),
  };
  return { processes, sharedMemory, network: network.kind, names };
}

function networkRequest(spec: SandboxSpec, networkName: string): Record<string, unknown> {
  if (spec.network.kind === 'host')
    return {
      netns: { nsmode: 'host' },
      utsns: { nsmode: 'host' },
      ...(spec.sysctls && { sysctl: spec.sysctls }),
    };
  return {
    netns: { nsmode: 'bridge' },
    networks: { [networkName]: {} },
    utsns: { nsmode: 'private' },
    hostname: spec.hostname,
    portmappings: spec.network.hostPorts.map(portRequest),
    sysctl: { ...podSettings, ...spec.sysctls },
  };
}

function portRequest(port: HostPort): Record<string, unknown> {
  return {
    protocol: port.protocol,
    host_port: port.hostPort,
    container_port: port.containerPort,
    ...(port.hostAddress !== undefined && { host_ip: port.hostAddress }),
  };
}

/** What the engine is asked to make for a container. */
export function containerRequest(spec: ContainerSpec, context: ContainerContext): Record<string, unknown> {
  const within: Namespace = { nsmode: 'container', value: engineName('sandbox', spec.sandboxId) };
  const { sandbox, mounts, logPath, lowestScore } = context;
  const host: Namespace = { nsmode: 'host' };
  const isOnHost = sandbox.network === 'host';
  return {
    name: engineName('container', spec.id),
    image: spec.imageId,
    labels: engineLabels({ role: 'container', ...spec }),
    ...(spec.entryPoint && { entrypoint: spec.entryPoint }),
    ...(spec.arguments && { command: spec.arguments }),
    ...(spec.workingDirectory !== undefined && {
      work_dir: spec.workingDirectory,
      create_working_dir: true,
    }),
    env: spec.environment,
    stdin: spec.hasInput,
    ...(spec.hasInput && spec.endsInputOnce !== true && { annotations: { [inputStays]: 'true' } }),
    terminal: spec.hasTerminal,
    ...(spec.stopSignal !== undefined && { stop_signal: signalNumber(spec.stopSignal) }),
    mounts: mounts.map(mountRequest),
    image_volume_mode: 'anonymous',
    systemd: 'false',
    netns: isOnHost ? host : within,
    utsns: isOnHost ? host : within,
    ipcns: sandbox.sharedMemory === 'host' ? host : within,
    pidns: processesOf(context, within),
    dependencyContainers: [engineName('sandbox', spec.sandboxId)],
    ...securityRequest(spec.security),
    ...resourceRequest(spec.resources, lowestScore),
    log_configuration: { driver: 'k8s-file', path: logPath },
  };
}

function processesOf({ sandbox, processId }: ContainerContext, within: Namespace): Namespace {
  const others = { sandbox: within, host: { nsmode: 'host' } };
  if (sandbox.processes !== 'container') return others[sandbox.processes];
  return processId === undefined
    ? { nsmode: 'private' }
    : { nsmode: 'path', value: `/proc/${processId}/ns/pid` };
}

function mountRequest(mount: ResolvedMount): Record<string, unknown> {
  const propagation = mount.propagation ? propagations[mount.propagation] : 'rprivate';
  return {
    type: 'bind',
    source: mount.source,
    destination: mount.containerPath,
    options: ['rbind', propagation, mount.isReadOnly === true ? 'ro' : 'rw'],
  };
}

function securityRequest(security: ContainerSecurity): Record<string, unknown> {
  return {
    ...(security.user !== undefined && { user: security.user }),
    groups: (security.supplementalGroups ?? []).map(String),
    cap_add: (security.addedCapabilities ?? []).map(capabilityName),
    cap_drop: (security.droppedCapabilities ?? []).map(capabilityName),
    privileged: security.isPrivileged === true,
    read_only_filesystem: security.hasReadOnlyRoot === true,
    no_new_privileges: security.isEscalationRefused === true,
    ...(security.hasWholeProc === true && { unmask: ['ALL'] }),
    ...seccompRequest(security),
  };
}

function seccompRequest({ seccomp }: ContainerSecurity): Record<string, unknown> {
  if (seccomp?.kind === 'unconfined') return { seccomp_profile_path: 'unconfined' };
  return seccomp?.kind === 'file' ? { seccomp_profile_path: seccomp.path } : {};
}

function resourceRequest(resources: ContainerResources, lowestScore: number): Record<string, unknown> {
  const { cpuShares, cpuLimit, memoryLimitBytes, processLimit, outOfMemoryScore } = resources;
  const cpu = {
    ...(cpuShares !== undefined && { shares: cpuShares }),
    ...(cpuLimit !== undefined && { quota: Math.round(cpuLimit * cpuPeriod), period: cpuPeriod }),
  };
  return {
    resource_limits: {
      ...(Object.keys(cpu).length > 0 && { cpu }),
      // As much swap as memory is none at all.
      ...(memoryLimitBytes !== undefined && { memory: { limit: memoryLimitBytes, swap: memoryLimitBytes } }),
      ...(processLimit !== undefined && { pids: { limit: processLimit } }),
    },
    ...(outOfMemoryScore !== undefined && { oom_score_adj: Math.max(outOfMemoryScore, lowestScore) }),
  };
}

function capabilityName(name: string): string {
  return name === 'ALL' || name.startsWith('CAP_') ? name : `CAP_${name}`;
}

/** @throws StatusError for a signal that there is not */
function signalNumber(text: string): number {
  const signals: Readonly<Record<string, number>> = constants.signals;
  const name = text.startsWith('SIG') ? text : `SIG${text}`;
  const number = /^\d+$/.test(text) ? Number(text) : signals[name];
  if (number === undefined || number < 1 || number > 64)
    throw badRequest(`${text} is no signal: name one such as SIGTERM`);
  return number;
}

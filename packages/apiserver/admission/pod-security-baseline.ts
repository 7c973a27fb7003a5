import type { JsonObject } from '@sheaf/base';
import { integerAt, objectAt, objectsAt, textAt, textsAt } from './object-field.ts';
import {
  containersOf,
  containersText,
  contextOf,
  hasOwnUsers,
  plural,
  quoted,
  type SecurityCheck,
  type SecuritySubject,
  settersText,
  sorted,
  type Violation,
} from './pod-security-subject.ts';

export function checkAppArmor({ metadata, spec }: SecuritySubject): Violation | undefined {
  const typeOf = (owner: JsonObject): string => textAt(objectAt(contextOf(owner), 'appArmorProfile'), 'type');
  const isBad = (owner: JsonObject): boolean => !['', 'RuntimeDefault', 'Localhost'].includes(typeOf(owner));
  const bad = containersOf(spec).filter(isBad);
  const annotations = Object.entries(metadata.annotations ?? {})
    .filter(
      ([key, value]) =>
        key.startsWith('container.apparmor.security.beta.kubernetes.io/') && !isAllowedProfile(value),
    )
    .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
    .sort();
  const setters = settersText(isBad(spec), bad);
  if (setters === '' && annotations.length === 0) return undefined;
  const values = [...sorted([spec, ...bad].filter(isBad).map(typeOf)), ...annotations];
  const noted = annotations.length > 0 ? [plural('annotation', 'annotations', annotations.length)] : [];
  const who = [...(setters === '' ? [] : [setters]), ...noted].join(' and ');
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', values.length),
    detail: `${who} must not set AppArmor profile type to ${quoted(values)}`,
  };
}

function isAllowedProfile(value: string): boolean {
  return value === '' || value === 'runtime/default' || value.startsWith('localhost/');
}

const usualCapabilities: ReadonlySet<string> = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]);

export function checkAddedCapabilities({ spec }: SecuritySubject): Violation | undefined {
  const unusual = (container: JsonObject): string[] =>
    textsAt(objectAt(contextOf(container), 'capabilities'), 'add').filter(
      (name) => !usualCapabilities.has(name),
    );
  const bad = containersOf(spec).filter((container) => unusual(container).length > 0);
  if (bad.length === 0) return undefined;
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(bad)} must not include ${quoted(sorted(bad.flatMap(unusual)))} in securityContext.capabilities.add`,
  };
}

export function checkHostNamespaces({ spec }: SecuritySubject): Violation | undefined {
  const used = ['hostNetwork', 'hostPID', 'hostIPC'].filter((field) => spec[field] === true);
  if (used.length === 0) return undefined;
  return { reason: 'host namespaces', detail: used.map((field) => `${field}=true`).join(', ') };
}

export function checkHostPaths({ spec }: SecuritySubject): Violation | undefined {
  const names = objectsAt(spec, 'volumes')
    .filter((volume) => volume['hostPath'] !== undefined)
    .map((volume) => textAt(volume, 'name'));
  if (names.length === 0) return undefined;
  return {
    reason: 'hostPath volumes',
    detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}`,
  };
}

export function checkHostPorts({ spec }: SecuritySubject): Violation | undefined {
  const portsOf = (container: JsonObject): string[] =>
    objectsAt(container, 'ports')
      .map((port) => integerAt(port, 'hostPort'))
      .filter((port) => port !== 0)
      .map(String);
  const bad = containersOf(spec).filter((container) => portsOf(container).length > 0);
  if (bad.length === 0) return undefined;
  const ports = sorted(bad.flatMap(portsOf));
  return {
    reason: 'hostPort',
    detail: `${containersText(bad)} ${plural('uses', 'use', bad.length)} ${plural('hostPort', 'hostPorts', ports.length)} ${ports.join(', ')}`,
  };
}

export function checkProbeHosts({ spec, minor }: SecuritySubject): Violation | undefined {
  if (minor < 34) return undefined;
  const bad = containersOf(spec).filter((container) => probedHosts(container).length > 0);
  if (bad.length === 0) return undefined;
  const hosts = sorted(bad.flatMap(probedHosts));
  const names = sorted(bad.map((container) => textAt(container, 'name'))).map((name) => ({ name }));
  return {
    reason: 'probe or lifecycle host',
    detail: `${containersText(names)} ${plural('uses', 'use', names.length)} ${plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length)} ${quoted(hosts)}`,
  };
}

function probedHosts(container: JsonObject): string[] {
  const lifecycle = objectAt(container, 'lifecycle');
  const handlers = [
    ...['livenessProbe', 'readinessProbe', 'startupProbe'].map((field) => objectAt(container, field)),
    ...['postStart', 'preStop'].map((field) => objectAt(lifecycle, field)),
  ];
  return handlers
    .flatMap((handler) => ['httpGet', 'tcpSocket'].map((way) => textAt(objectAt(handler, way), 'host')))
    .filter((host) => host !== '');
}

export function checkPrivileged({ spec }: SecuritySubject): Violation | undefined {
  const bad = containersOf(spec).filter((container) => contextOf(container)['privileged'] === true);
  if (bad.length === 0) return undefined;
  return {
    reason: 'privileged',
    detail: `${containersText(bad)} must not set securityContext.privileged=true`,
  };
}

export const checkProcMount: SecurityCheck = (subject) =>
  hasOwnUsers(subject) ? undefined : checkAnyProcMount(subject);

export function checkAnyProcMount({ spec }: SecuritySubject): Violation | undefined {
  const mountOf = (container: JsonObject): string => textAt(contextOf(container), 'procMount');
  const bad = containersOf(spec).filter((container) => !['', 'Default'].includes(mountOf(container)));
  if (bad.length === 0) return undefined;
  return {
    reason: 'procMount',
    detail: `${containersText(bad)} must not set securityContext.procMount to ${quoted(sorted(bad.map(mountOf)))}`,
  };
}

const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t'];

export function checkSeLinux({ spec, minor }: SecuritySubject): Violation | undefined {
  const types = minor >= 31 ? [...seLinuxTypes, 'container_engine_t'] : seLinuxTypes;
  const optionsOf = (owner: JsonObject): JsonObject => objectAt(contextOf(owner), 'seLinuxOptions');
  const isBad = (owner: JsonObject): boolean => {
    const options = optionsOf(owner);
    return (
      !types.includes(textAt(options, 'type')) ||
      textAt(options, 'user') !== '' ||
      textAt(options, 'role') !== ''
    );
  };
  const bad = containersOf(spec).filter(isBad);
  const setters = settersText(isBad(spec), bad);
  if (setters === '') return undefined;
  const options = [spec, ...bad].filter(isBad).map(optionsOf);
  const badTypes = sorted(
    options.map((item) => textAt(item, 'type')).filter((type) => !types.includes(type)),
  );
  const faults = [
    ...(badTypes.length > 0 ? [`${plural('type', 'types', badTypes.length)} ${quoted(badTypes)}`] : []),
    ...['user', 'role']
      .filter((field) => options.some((item) => textAt(item, field) !== ''))
      .map((field) => `${field} may not be set`),
  ];
  return {
    reason: 'seLinuxOptions',
    detail: `${setters} set forbidden securityContext.seLinuxOptions: ${faults.join('; ')}`,
  };
}

const profiles = ['RuntimeDefault', 'Localhost'];

export function seccompOf(owner: JsonObject): string | undefined {
  const { seccompProfile } = contextOf(owner);
  return seccompProfile === undefined ? undefined : textAt(seccompProfile, 'type');
}

export function isForbiddenSeccomp(owner: JsonObject): boolean {
  const type = seccompOf(owner);
  return type !== undefined && !profiles.includes(type);
}

/** Before policy 1.19 annotations said it. */
export function checkSeccomp(subject: SecuritySubject): Violation | undefined {
  const { spec, minor } = subject;
  if (minor < 19) return checkSeccompAnnotations(subject);
  const bad = containersOf(spec).filter(isForbiddenSeccomp);
  const setters = settersText(isForbiddenSeccomp(spec), bad);
  if (setters === '') return undefined;
  const types = sorted([spec, ...bad].filter(isForbiddenSeccomp).map((owner) => seccompOf(owner) ?? ''));
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(types)}`,
  };
}

function checkSeccompAnnotations({ metadata, spec }: SecuritySubject): Violation | undefined {
  const keys = [
    'seccomp.security.alpha.kubernetes.io/pod',
    ...containersOf(spec).map(
      (container) => `container.seccomp.security.alpha.kubernetes.io/${textAt(container, 'name')}`,
    ),
  ];
  const { annotations = {} } = metadata;
  const bad = keys.filter(
    (key) => Object.hasOwn(annotations, key) && !isAllowedSeccomp(annotations[key] ?? ''),
  );
  if (bad.length === 0) return undefined;
  const texts = sorted(bad.map((key) => `${key}=${JSON.stringify(annotations[key])}`));
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', 'annotations', texts.length)} ${texts.join(', ')}`,
  };
}

function isAllowedSeccomp(value: string): boolean {
  return value === 'runtime/default' || value === 'docker/default' || value.startsWith('localhost/');
}

const sysctls: readonly (readonly [since: number, names: readonly string[]])[] = [
  [
    0,
    [
      'kernel.shm_rmid_forced',
      'net.ipv4.ip_local_port_range',
      'net.ipv4.tcp_syncookies',
      'net.ipv4.ping_group_range',
      'net.ipv4.ip_unprivileged_port_start',
    ],
  ],
  [27, ['net.ipv4.ip_local_reserved_ports']],
  [
    29,
    [
      'net.ipv4.tcp_keepalive_time',
      'net.ipv4.tcp_fin_timeout',
      'net.ipv4.tcp_keepalive_intvl',
      'net.ipv4.tcp_keepalive_probes',
    ],
  ],
  [32, ['net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']],
];

export function checkSysctls({ spec, minor }: SecuritySubject): Violation | undefined {
  const allowed = new Set(sysctls.filter(([since]) => minor >= since).flatMap(([, names]) => names));
  const bad = objectsAt(contextOf(spec), 'sysctls')
    .map((sysctl) => textAt(sysctl, 'name'))
    .filter((name) => !allowed.has(name));
  return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') };
}

export function checkHostProcess({ spec }: SecuritySubject): Violation | undefined {
  const isBad = (owner: JsonObject): boolean =>
    objectAt(contextOf(owner), 'windowsOptions')['hostProcess'] === true;
  const setters = settersText(isBad(spec), containersOf(spec).filter(isBad));
  if (setters === '') return undefined;
  return {
    reason: 'hostProcess',
    detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
  };
}

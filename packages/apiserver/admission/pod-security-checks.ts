import {
  checkAddedCapabilities,
  checkAnyProcMount,
  checkAppArmor,
  checkHostNamespaces,
  checkHostPaths,
  checkHostPorts,
  checkHostProcess,
  checkPrivileged,
  checkProbeHosts,
  checkProcMount,
  checkSeccomp,
  checkSeLinux,
  checkSysctls,
} from './pod-security-baseline.ts';
import type { LevelVersion } from './pod-security-labels.ts';
import {
  checkCapabilities,
  checkEscalation,
  checkNonRoot,
  checkRequiredSeccomp,
  checkUser,
  checkVolumes,
} from './pod-security-restricted.ts';
import type { SecurityCheck, SecuritySubject, Violation } from './pod-security-subject.ts';

const always: readonly SecurityCheck[] = [
  checkHostNamespaces,
  checkHostPorts,
  checkProbeHosts,
  checkPrivileged,
  checkSeLinux,
  checkSysctls,
  checkHostProcess,
];

const baseline: readonly SecurityCheck[] = [
  checkAppArmor,
  checkAddedCapabilities,
  checkHostNamespaces,
  checkHostPaths,
  checkHostPorts,
  checkProbeHosts,
  checkPrivileged,
  checkProcMount,
  checkSeLinux,
  checkSeccomp,
  checkSysctls,
  checkHostProcess,
];

/** Stricter forms stand in the place of those of the baseline. */
const restricted: readonly SecurityCheck[] = [
  checkAppArmor,
  ...always,
  checkEscalation,
  checkCapabilities,
  checkAnyProcMount,
  checkVolumes,
  checkNonRoot,
  checkUser,
  checkRequiredSeccomp,
];

const checks = { privileged: [], baseline, restricted };

/** Everything that a pod has that its level does not allow. */
export function violationsOf(
  { level, minor }: LevelVersion,
  subject: Omit<SecuritySubject, 'minor'>,
): readonly Violation[] {
  return checks[level].flatMap((check: SecurityCheck) => check({ ...subject, minor }) ?? []);
}

export function violationText(violations: readonly Violation[]): string {
  return violations.map(({ reason, detail }) => `${reason} (${detail})`).join(', ');
}

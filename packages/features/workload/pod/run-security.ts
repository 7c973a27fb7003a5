import type { Container, Pod, PodSecurityContext, SecurityContext } from '@sheaf/api/workload/index';
import type { ContainerImage, ContainerSecurity } from '@sheaf/ports';

export type PlannedSecurity = { readonly security: ContainerSecurity } | { readonly problem: string };

/** What the processes of a container may do: its own word counts before that of the pod. */
export function securityOf(pod: Pod, container: Container, image: ContainerImage): PlannedSecurity {
  const own = container.securityContext ?? {};
  const shared = pod.spec.securityContext ?? {};
  const wanted = { ...shared, ...own };
  const problem = rootProblem(wanted.runAsNonRoot, wanted.runAsUser, image);
  if (problem !== undefined) return { problem };
  return {
    security: {
      ...userPart(wanted.runAsUser, wanted.runAsGroup, image),
      ...groupsOf(shared),
      ...capabilitiesOf(own),
      ...privilegesOf(own),
      ...seccompOf(wanted.seccompProfile),
    },
  };
}

function groupsOf({
  supplementalGroups = [],
  fsGroup,
}: PodSecurityContext): Pick<ContainerSecurity, 'supplementalGroups'> {
  const groups = fsGroup === undefined ? supplementalGroups : [...supplementalGroups, fsGroup];
  return groups.length > 0 ? { supplementalGroups: groups } : {};
}

function privilegesOf({
  privileged,
  readOnlyRootFilesystem,
  allowPrivilegeEscalation,
  procMount,
}: SecurityContext): ContainerSecurity {
  return {
    ...(privileged && { isPrivileged: true }),
    ...(readOnlyRootFilesystem && { hasReadOnlyRoot: true }),
    ...(allowPrivilegeEscalation === false && { isEscalationRefused: true }),
    ...(procMount === 'Unmasked' && { hasWholeProc: true }),
  };
}

function userPart(
  user: number | undefined,
  group: number | undefined,
  image: ContainerImage,
): { readonly user?: string } {
  if (user === undefined && group === undefined) return {};
  const name = user === undefined ? image.user.split(':')[0] || '0' : String(user);
  return { user: group === undefined ? name : `${name}:${group}` };
}

function rootProblem(
  isRefused: boolean | undefined,
  user: number | undefined,
  image: ContainerImage,
): string | undefined {
  if (!isRefused) return undefined;
  if (user === 0)
    return 'container has runAsUser set to 0 although runAsNonRoot forbids it; set another runAsUser';
  if (user !== undefined) return undefined;
  const name = image.user.split(':')[0] ?? '';
  if (name === '' || name === '0' || name === 'root')
    return 'container has runAsNonRoot and image will run as root; set runAsUser, or use an image with another user';
  return /^\d+$/.test(name)
    ? undefined
    : `container has runAsNonRoot and image has non-numeric user (${name}), cannot verify user is non-root; set runAsUser`;
}

function capabilitiesOf({
  capabilities,
}: SecurityContext): Pick<ContainerSecurity, 'addedCapabilities' | 'droppedCapabilities'> {
  const names = (list: readonly string[] = []): readonly string[] =>
    list.map((name) => name.replace(/^CAP_/i, '').toUpperCase());
  const [added, dropped] = [names(capabilities?.add), names(capabilities?.drop)];
  return {
    ...(added.length > 0 && { addedCapabilities: added }),
    ...(dropped.length > 0 && { droppedCapabilities: dropped }),
  };
}

function seccompOf(profile: PodSecurityContext['seccompProfile']): Pick<ContainerSecurity, 'seccomp'> {
  switch (profile?.type) {
    case 'RuntimeDefault':
      return { seccomp: { kind: 'default' } };
    case 'Localhost':
      return { seccomp: { kind: 'file', path: profile.localhostProfile ?? '' } };
    default:
      return { seccomp: { kind: 'unconfined' } };
  }
}

import type { ContainerStatus, Pod } from '@sheaf/api/workload/index';
import { badRequest } from '@sheaf/base';

const scheme = 'sheaf://';

/**
 * The run whose log is asked for, as the pod's status tells it, so that it is the one that users see there.
 * @throws StatusError 400 where there is none, in the words that kubectl users know
 */
export function logSourceOf(pod: Pod, container: string, isPrevious: boolean): string {
  const status = statusesOf(pod).find(({ name }) => name === container);
  const which = `container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)}`;
  if (!status) throw badRequest(`${which} is not available`);
  const last = idOf(status.lastState?.terminated?.containerID);
  if (isPrevious) {
    if (last !== undefined) return last;
    throw badRequest(`previous terminated ${which} not found`);
  }
  const source = ownRun(status) ?? last;
  if (source !== undefined) return source;
  throw badRequest(`${which} is ${waitText(status)}`);
}

function statusesOf({ status }: Pod): readonly ContainerStatus[] {
  const {
    containerStatuses = [],
    initContainerStatuses = [],
    ephemeralContainerStatuses = [],
  } = status ?? {};
  return [...containerStatuses, ...initContainerStatuses, ...ephemeralContainerStatuses];
}

function ownRun({ state, containerID }: ContainerStatus): string | undefined {
  return state?.running ? idOf(containerID) : idOf(state?.terminated?.containerID);
}

function waitText({ state }: ContainerStatus): string {
  if (state?.terminated) return 'terminated';
  const reason = state?.waiting?.reason;
  switch (reason) {
    case undefined:
    case '':
      return 'waiting to start - no logs yet';
    case 'ErrImagePull':
      return "waiting to start: image can't be pulled";
    case 'ImagePullBackOff':
      return 'waiting to start: trying and failing to pull image';
    default:
      return `waiting to start: ${reason}`;
  }
}

function idOf(publicId: string | undefined): string | undefined {
  return publicId?.startsWith(scheme) ? publicId.slice(scheme.length) : undefined;
}

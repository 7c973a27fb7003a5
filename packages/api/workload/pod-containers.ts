import { badRequest } from '@sheaf/base';
import type { Pod } from './generated/core.ts';

/** Of all kinds, in the order in which they are named to users. */
export function containerNamesOf({ spec }: Pod): readonly string[] {
  const { initContainers = [], containers, ephemeralContainers = [] } = spec;
  return [...initContainers, ...containers, ...ephemeralContainers].map(({ name }) => name);
}

/** The container that a request is about; the only one where it names none. @throws StatusError 400 */
export function chosenContainer(pod: Pod, wanted: string): string {
  const { name = '' } = pod.metadata;
  const names = containerNamesOf(pod);
  if (wanted !== '') {
    if (names.includes(wanted)) return wanted;
    throw badRequest(`container ${wanted} is not valid for pod ${name}`);
  }
  const [only, ...others] = pod.spec.containers;
  if (only && others.length === 0) return only.name;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
}

import type { HelmSession } from './helm-session.ts';
import { type OperationOrder, serverSideFlag } from './operation-order.ts';

/** How the objects of a revision are to be applied, as far as this Helm can be told. @throws HelmError */
export async function applyArguments(
  helm: Pick<HelmSession, 'call'>,
  { serverSide, forcesConflicts }: Pick<OperationOrder, 'serverSide' | 'forcesConflicts'>,
  revision: number,
): Promise<readonly string[]> {
  // A first revision has none before it to go by, and an installation does not know the word.
  const side = revision === 1 && serverSide === 'auto' ? undefined : serverSide;
  if (side === undefined && !forcesConflicts) return [];
  const version = await helm.call(['version', '--short'], { phase: 'release', isQuestion: true });
  if (version.startsWith('v3.')) return [];
  return [
    ...(side === undefined ? [] : [serverSideFlag(side)]),
    ...(forcesConflicts ? ['--force-conflicts'] : []),
  ];
}

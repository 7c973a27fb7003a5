import type { HelmSession } from './helm-session.ts';
import { type OperationOrder, serverSideFlag } from './operation-order.ts';

/** How objects are to be applied, as far as this Helm can be told. @throws HelmError */
export async function applyArguments(
  helm: HelmSession,
  { serverSide, forcesConflicts }: Pick<OperationOrder, 'serverSide' | 'forcesConflicts'>,
): Promise<readonly string[]> {
  if (serverSide === undefined && !forcesConflicts) return [];
  const version = await helm.call(['version', '--short'], { phase: 'release', isQuestion: true });
  if (version.startsWith('v3.')) return [];
  return [
    ...(serverSide === undefined ? [] : [serverSideFlag(serverSide)]),
    ...(forcesConflicts ? ['--force-conflicts'] : []),
  ];
}

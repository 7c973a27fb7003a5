import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { chartArchive, type RunPlaces } from './chart-archive.ts';
import { failureNamed } from './failure-words.ts';
import { HelmError, type HelmSession } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';
import { planRelease, type ReleaseFacts } from './release-plan.ts';

const hashLabel = 'sheaf.dev/config-hash';
/** Of a label's value. */
const hashLength = 40;
const keptRevisions = 10;
/** More steps than any leftover needs. */
const mostSteps = 8;

/**
 * Brings the release to where the order wants it, step by step, looking at it before each; gives the archive of the chart if that was
 * needed. @throws HelmError
 */
export async function workOnRelease(
  helm: HelmSession,
  order: OperationOrder,
  places: RunPlaces,
): Promise<string | undefined> {
  let archive: string | undefined;
  for (let count = 0; count < mostSteps; count++) {
    const facts = await readRelease(helm, order);
    const step = planRelease(order, facts);
    switch (step) {
      case 'nothing':
        return archive;
      case 'refuse':
        throw new HelmError(
          failureNamed('ReleaseFailed'),
          `the release ${order.name} has failed before, and its policy is to leave it so`,
        );
      case 'uninstall':
        await helm.call(['uninstall', order.name, ...common(order)], { phase: 'release' });
        break;
      case 'clear':
        await helm.call(['uninstall', order.name, '--no-hooks', ...common(order)], { phase: 'release' });
        break;
      case 'rollback':
        await helm.call(['rollback', order.name, ...common(order)], { phase: 'release' });
        break;
      case 'upgrade':
        // Nothing is taken away or begun for a chart that cannot be had.
        archive ??= await chartArchive(helm, order, places);
        await helm.call(await upgradeArguments(order, places, archive), { phase: 'release' });
        return archive;
    }
  }
  throw new HelmError(failureNamed('HelmFailed'), 'the release does not come to rest');
}

function common({ targetNamespace, timeout }: OperationOrder): readonly string[] {
  return ['--namespace', targetNamespace, ...(timeout === undefined ? [] : ['--timeout', timeout])];
}

async function upgradeArguments(
  order: OperationOrder,
  { root }: RunPlaces,
  archive: string,
): Promise<readonly string[]> {
  const { name, createsNamespace, takesOwnership, set } = order;
  const config = join(root, 'config');
  const values = (await readdir(config).catch(() => []))
    .filter((file) => file.startsWith('values-') && file.endsWith('.yaml'))
    .toSorted();
  return [
    'upgrade',
    '--install',
    name,
    archive,
    ...common(order),
    '--history-max',
    String(keptRevisions),
    '--labels',
    `${hashLabel}=${hashOf(order)}`,
    // Else values that were taken away would stay.
    '--reset-values',
    ...(createsNamespace ? ['--create-namespace'] : []),
    ...(takesOwnership ? ['--take-ownership'] : []),
    ...values.flatMap((file) => ['--values', join(config, file)]),
    ...set,
  ];
}

function hashOf({ configHash }: OperationOrder): string {
  return configHash.replace(/^SHA256=/, '').slice(0, hashLength) || 'none';
}

interface Listed {
  readonly status: string;
  readonly description?: string;
}

async function readRelease(helm: HelmSession, order: OperationOrder): Promise<ReleaseFacts> {
  const { name, targetNamespace } = order;
  const place = ['--namespace', targetNamespace, '--output', 'json'];
  const list = async (...more: readonly string[]): Promise<readonly Listed[]> => {
    const filter = `^${name.replaceAll('.', '\\.')}$`;
    const args = ['list', '--all', '--filter', filter, ...place, ...more];
    return JSON.parse(await helm.call(args, { phase: 'release', isQuestion: true })) as readonly Listed[];
  };
  const [newest] = await list();
  if (!newest) return { status: undefined, isOfOrder: false, hasDeployed: false, wasCut: false };
  const isOfOrder = (await list('--selector', `${hashLabel}=${hashOf(order)}`)).some(
    ({ status }) => status === 'deployed',
  );
  const { status } = newest;
  if (status !== 'failed' && !status.startsWith('pending-'))
    return { status, isOfOrder, hasDeployed: false, wasCut: false };
  const text = await helm.call(['history', name, ...place], { phase: 'release', isQuestion: true });
  const history = JSON.parse(text) as readonly Listed[];
  const hasDeployed = history.some((each) => each.status === 'deployed' || each.status === 'superseded');
  const wasCut = /context canceled/.test(history.at(-1)?.description ?? '');
  return { status, isOfOrder, hasDeployed, wasCut };
}

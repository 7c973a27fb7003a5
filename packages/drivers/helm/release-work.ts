import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { releaseHash, releaseHashLabel, releaseRevisionLabel } from '@sheaf/ports/helm';
import { applyArguments } from './apply-arguments.ts';
import { chartArchive, type RunPlaces } from './chart-archive.ts';
import { clearHooks } from './clear-hooks.ts';
import { failureNamed } from './failure-words.ts';
import { mayTakeOn } from './foreign-release.ts';
import { HelmError, type HelmSession, unusable } from './helm-session.ts';
import type { OperationOrder } from './operation-order.ts';
import type { Account } from './pod-account.ts';
import { readHooks, readRelease } from './release-facts.ts';
import { planRelease, type ReleaseFacts, type ReleaseStep } from './release-plan.ts';

const keptRevisions = 10;
/** More steps than any leftover needs. */
const mostSteps = 8;
/** After these nobody knows any more what hooks were cut off. */
const takesBack: ReadonlySet<ReleaseStep> = new Set(['uninstall', 'clear', 'rollback']);

/** What an operation works with. */
export interface ReleaseWork {
  readonly helm: HelmSession;
  readonly places: RunPlaces;
  readonly account: Account;
  /** Is told the archive of the chart before it is installed. */
  readonly onChart: (archive: string) => void;
  /** A line of the log. */
  readonly print: (line: string) => void;
}

/** Brings the release to where the order wants it, step by step, looking at it before each. @throws HelmError */
export async function workOnRelease(
  order: OperationOrder,
  { helm, places, account, onChart, print }: ReleaseWork,
): Promise<void> {
  let fetched: Promise<string> | undefined;
  const archiveOf = (): Promise<string> => (fetched ??= chartArchive(helm, order, places));
  for (let count = 0; count < mostSteps; count++) {
    const facts = await readRelease(account, order);
    const step = planRelease(order, facts);
    const revision = facts.revision + 1;
    if (!(await mayTakeOn(helm, { order, chart: facts.foreignChart, archive: archiveOf }))) return;
    if (mayLeaveHooks(step, facts))
      await clearHooks(account, { order, hooks: await readHooks(account, order), print });
    switch (step) {
      case 'nothing':
        return;
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
        await helm.call(
          ['rollback', order.name, ...common(order), ...(await applyArguments(helm, order, revision))],
          { phase: 'release' },
        );
        break;
      case 'upgrade': {
        // Nothing is taken away or begun for a chart that cannot be had.
        const archive = await archiveOf();
        onChart(archive);
        const given = await deployArguments(order, places, { archive, revision });
        await helm.call([...given, ...(await applyArguments(helm, order, revision))], { phase: 'release' });
        return checkWritten(await readRelease(account, order), helm.program);
      }
    }
  }
  throw unusable(`${helm.program} ends well, and the release ${order.name} does not come to rest`);
}

/** What is deployed has come through its hooks. */
function mayLeaveHooks(step: ReleaseStep, { status }: ReleaseFacts): boolean {
  return takesBack.has(step) && status !== 'deployed';
}

/** That a program ends well does not make it Helm. */
function checkWritten({ isOfOrder, status = 'not there' }: ReleaseFacts, program: string): void {
  if (!isOfOrder) throw unusable(`${program} ends well, and the release is ${status}, not as it was told`);
}

function common({ targetNamespace, timeout }: OperationOrder): readonly string[] {
  return ['--namespace', targetNamespace, ...(timeout === undefined ? [] : ['--timeout', timeout])];
}

/** A first one is installed, as by hand: an upgrade would look for what there is once more. */
function verbFor(revision: number): readonly string[] {
  if (revision === 1) return ['install'];
  // Else values that were taken away would stay.
  return ['upgrade', '--install', '--reset-values', '--history-max', String(keptRevisions)];
}

async function deployArguments(
  order: OperationOrder,
  { root }: RunPlaces,
  { archive, revision }: { readonly archive: string; readonly revision: number },
): Promise<readonly string[]> {
  const { name, createsNamespace, takesOwnership, set } = order;
  const config = join(root, 'config');
  const values = (await readdir(config).catch(() => []))
    .filter((file) => file.startsWith('values-') && file.endsWith('.yaml'))
    .toSorted();
  return [
    ...verbFor(revision),
    name,
    archive,
    ...common(order),
    '--labels',
    `${releaseHashLabel}=${releaseHash(order.configHash)},${releaseRevisionLabel}=${revision}`,
    ...(createsNamespace ? ['--create-namespace'] : []),
    ...(takesOwnership ? ['--take-ownership'] : []),
    ...values.flatMap((file) => ['--values', join(config, file)]),
    ...set,
  ];
}

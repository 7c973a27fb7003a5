/**
 * Carries out one operation on a release, as klipper-helm does: `node run-helm.ts install|delete …`, the rest in variables and files.
 * Ends with 0, or with the code of a failure whose words are its last ones.
 */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definitionsWords, type HelmFailure } from '@sheaf/ports/helm';
import type { RunPlaces } from './chart-archive.ts';
import { definitionsIn } from './chart-definitions.ts';
import { failureNamed, failureOf } from './failure-words.ts';
import { helmEnvironment, writeKubeconfig } from './helm-environment.ts';
import { HelmError, HelmSession } from './helm-session.ts';
import { hookLog } from './hook-log.ts';
import { checkIsWanted } from './operation-fence.ts';
import { type OperationOrder, OrderError, readOrder } from './operation-order.ts';
import { type Account, readAccount } from './pod-account.ts';
import { lockRelease } from './release-lock.ts';
import { workOnRelease } from './release-work.ts';

const longestWords = 4000;
const variables = process.env;
const work = process.cwd();
const places: RunPlaces = {
  root: variables['SHEAF_ROOT'] ?? '/',
  work,
  charts: variables['SHEAF_CHARTS'] ?? '',
};

/** Gives the last words. */
async function run(): Promise<string> {
  const order = readOrder(process.argv.slice(2), variables);
  const program = variables['SHEAF_HELM'] ?? '';
  if (program === '') throw new HelmError(failureNamed('HelmMissing'), 'there is no Helm on this host');
  const server = `${variables['KUBERNETES_SERVICE_HOST']}:${variables['KUBERNETES_SERVICE_PORT']}`;
  const lock = await lockRelease([server, order.targetNamespace, order.name]);
  if (!lock)
    throw new HelmError(failureNamed('ReleaseBusy'), `another operation works on the release ${order.name}`);
  const account = await readAccount({ root: places.root, server });
  await checkIsWanted(account, order);
  await writeKubeconfig({ root: places.root, work, server });
  const session = {
    program,
    environment: helmEnvironment({ work, driver: order.driver, variables }),
    print: (line: string) => process.stdout.write(`${line}\n`),
  };
  const helm = new HelmSession(session);
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => helm.interrupt());
  let words = Promise.resolve('');
  const onChart = (archive: string): void => {
    // Beside the operation, which mostly waits.
    const definitions = definitionsIn(new HelmSession(session), archive).catch(untold);
    words = definitions.then(definitionsWords);
  };
  const { print } = session;
  await workOnRelease(order, { helm, places, account, onChart, print }).catch((error: unknown) =>
    toldWithHook(error, { account, order }),
  );
  lock.dispose();
  return words;
}

/** The release is as it should be, whatever else can be told of it. */
function untold(error: unknown): readonly string[] {
  process.stderr.write(`what definitions the chart brings is not known: ${String(error)}\n`);
  return [];
}

async function leaveWords(words: string): Promise<void> {
  await writeFile(join(places.root, 'dev/termination-log'), words).catch(() => {
    process.stderr.write('the last words could not be written\n');
  });
}

/** Helm says that a hook has failed; why is in the hook's own log. @throws HelmError */
async function toldWithHook(
  error: unknown,
  { account, order }: { readonly account: Account; readonly order: OperationOrder },
): Promise<never> {
  if (!(error instanceof HelmError) || error.failure.reason !== 'HookFailed') throw error;
  const log = await hookLog(account, { namespace: order.targetNamespace, words: error.message });
  throw new HelmError(error.failure, [error.message, ...log, ...withoutHooks(order)].join('\n'));
}

/** A hook that cannot be mended need not keep what nobody wants. */
function withoutHooks({ kind, name, targetNamespace }: OperationOrder): readonly string[] {
  const command = `helm uninstall ${name} --namespace ${targetNamespace} --no-hooks`;
  return kind === 'delete' ? [`to take it away without its hooks: ${command}`] : [];
}

function failureFor(error: unknown): HelmFailure {
  if (error instanceof HelmError) return error.failure;
  if (error instanceof OrderError) return failureNamed('OrderInvalid');
  return failureOf('release', String(error));
}

try {
  const words = await run();
  process.stdout.write('done\n');
  await leaveWords(words);
  process.exitCode = 0;
} catch (error) {
  // Where things are on the host says nothing to whoever wrote them.
  const words = (error instanceof Error ? error.message : String(error)).replaceAll(`${places.root}/`, '/');
  const failure = failureFor(error);
  process.stderr.write(`${failure.reason}: ${words}\n`);
  await leaveWords(words.slice(-longestWords));
  process.exitCode = failure.exitCode;
}
// A lock that is held keeps the process otherwise.
process.exit();

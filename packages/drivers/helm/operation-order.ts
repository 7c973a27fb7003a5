type ServerSide = 'true' | 'false' | 'auto';

/** What a container asks of Helm, in the words of klipper-helm: arguments and variables. */
export interface OperationOrder {
  readonly kind: 'install' | 'delete';
  readonly name: string;
  /** Of the HelmChart; of the release is the next one. */
  readonly chartNamespace: string;
  readonly targetNamespace: string;
  readonly chart: string;
  readonly repo: string;
  readonly version: string;
  /** Written on the release, and known again. */
  readonly configHash: string;
  readonly failurePolicy: 'abort' | 'reinstall' | 'retry';
  readonly driver: 'secret' | 'configmap';
  readonly timeout: string | undefined;
  readonly isTlsUnchecked: boolean;
  readonly isPlainHttp: boolean;
  readonly passesCredentials: boolean;
  readonly createsNamespace: boolean;
  readonly takesOwnership: boolean;
  /** How Helm 4 applies objects; Helm 3 knows one way alone. */
  readonly serverSide: ServerSide | undefined;
  readonly forcesConflicts: boolean;
  /** Pairs of a flag and its value: `--set a=b`, `--set-string a=b`. */
  readonly set: readonly string[];
}

/** What cannot be done, and why; for people. */
export class OrderError extends Error {
  override readonly name = 'OrderError';
}

/** Only what is listed here is passed on: some flags of Helm run programs or read files of the host. */
const serverSides: readonly ServerSide[] = ['true', 'false', 'auto'];
const plainFlags = new Set([
  '--create-namespace',
  '--take-ownership',
  '--force-conflicts',
  ...serverSides.map(serverSideFlag),
]);
const valueFlags = new Set(['--namespace', '--version', '--set', '--set-string']);
const namePattern = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const timeoutPattern = /^(\d+(\.\d+)?(h|m|s|ms))+$/;

/** @throws OrderError */
export function readOrder(
  args: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): OperationOrder {
  const [kind, ...flags] = args;
  if (kind !== 'install' && kind !== 'delete')
    throw new OrderError(`the first argument is install or delete, not ${kind}`);
  const read = readFlags(flags);
  const text = (name: string): string => variables[name] ?? '';
  return {
    kind,
    name: checkedName('NAME', text('NAME')),
    chartNamespace: checkedName('CHART_NAMESPACE', text('CHART_NAMESPACE')),
    targetNamespace: checkedName('TARGET_NAMESPACE', text('TARGET_NAMESPACE') || text('CHART_NAMESPACE')),
    chart: notAFlag('CHART', text('CHART')),
    repo: notAFlag('REPO', text('REPO')),
    version: notAFlag('VERSION', text('VERSION')),
    configHash: text('CONFIG_HASH'),
    failurePolicy: oneOf('FAILURE_POLICY', text('FAILURE_POLICY') || 'reinstall', [
      'abort',
      'reinstall',
      'retry',
    ]),
    driver: oneOf('HELM_DRIVER', text('HELM_DRIVER') || 'secret', ['secret', 'configmap']),
    timeout: checkedTimeout(text('TIMEOUT')),
    isTlsUnchecked: text('INSECURE_SKIP_TLS_VERIFY') === 'true',
    isPlainHttp: text('PLAIN_HTTP') === 'true',
    passesCredentials: text('AUTH_PASS_CREDENTIALS') === 'true',
    createsNamespace: read.plain.has('--create-namespace'),
    takesOwnership: read.plain.has('--take-ownership'),
    serverSide: serverSides.find((side) => read.plain.has(serverSideFlag(side))),
    forcesConflicts: read.plain.has('--force-conflicts'),
    set: read.set,
  };
}

export function serverSideFlag(side: ServerSide): string {
  return `--server-side=${side}`;
}

interface ReadFlags {
  readonly plain: ReadonlySet<string>;
  readonly set: readonly string[];
}

function readFlags(flags: readonly string[]): ReadFlags {
  const plain = new Set<string>();
  const set: string[] = [];
  for (let index = 0; index < flags.length; index++) {
    const flag = flags[index] ?? '';
    if (plainFlags.has(flag)) plain.add(flag);
    else if (valueFlags.has(flag)) {
      index++;
      if (flag.startsWith('--set')) set.push(flag, flags[index] ?? '');
    } else throw new OrderError(`the argument ${flag} is not passed on to Helm`);
  }
  return { plain, set };
}

function checkedName(variable: string, name: string): string {
  if (namePattern.test(name) && name.length <= 253) return name;
  throw new OrderError(`${variable} is no name: ${JSON.stringify(name)}`);
}

function notAFlag(variable: string, text: string): string {
  if (!text.startsWith('-')) return text;
  throw new OrderError(`${variable} may not begin with a dash: ${JSON.stringify(text)}`);
}

function checkedTimeout(text: string): string | undefined {
  if (text === '') return undefined;
  if (timeoutPattern.test(text)) return text;
  throw new OrderError(`timeout is no duration such as 10m: ${JSON.stringify(text)}`);
}

function oneOf<T extends string>(variable: string, text: string, known: readonly T[]): T {
  const found = known.find((each) => each === text);
  if (found !== undefined) return found;
  throw new OrderError(`${variable} is one of ${known.join(', ')}, not ${JSON.stringify(text)}`);
}

import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { type ProgramResult, runProgram } from '../program.ts';
import type { Target } from '../target.ts';
import { failedPredicates } from './predicates.ts';
import type { Step, Transcript } from './transcript.ts';

/** A working directory, a namespace and a kubeconfig pointing at it. `close` removes all of them. */
export interface Session {
  readonly directory: string;
  readonly namespace: string;
  shell(command: string, input?: string): Promise<ProgramResult>;
  close(): Promise<void>;
}

export interface SessionOptions {
  readonly target: Target;
  readonly transcript: Transcript;
  /** Programs by the name under which the commands call them; a bare name is left to PATH. */
  readonly tools: Readonly<Record<string, string>>;
  /** More environment for the commands. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function openSession(options: SessionOptions): Promise<Session> {
  const { target, transcript } = options;
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-kubectl-'));
  const namespace = `t-${randomBytes(3).toString('hex')}`;
  const kubeconfig = join(directory, '.kubeconfig');
  const binaries = join(directory, '.bin');
  await writeFile(kubeconfig, await readFile(target.kubeconfig), { mode: 0o600 });
  await mkdir(binaries);
  for (const [name, path] of Object.entries(options.tools))
    if (path.includes('/')) await symlink(path, join(binaries, name));
  for (const [name, text] of Object.entries(transcript.files ?? {})) {
    const path = join(directory, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text.replaceAll('$NS', namespace), { mode: name.endsWith('.sh') ? 0o755 : 0o644 });
  }
  const env = {
    ...options.env,
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(directory, '.cache'),
    HOME: directory,
    NS: namespace,
    PATH: `${binaries}${delimiter}${process.env['PATH'] ?? ''}`,
  };
  const shell = (command: string, input?: string): Promise<ProgramResult> =>
    runProgram('bash', ['-c', command], { cwd: directory, env, ...(input === undefined ? {} : { input }) });
  await prepare(shell, namespace, target.hasControllers);
  return {
    directory,
    namespace,
    shell,
    close: async () => {
      await shell(`kubectl annotate namespace ${namespace} sheaf.dev/confirm-deletion=${namespace}`);
      await shell(`kubectl delete namespace ${namespace} --wait=false`);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

async function prepare(shell: Session['shell'], namespace: string, hasControllers: boolean): Promise<void> {
  const account = hasControllers
    ? 'for i in $(seq 100); do kubectl get serviceaccount default && exit 0; sleep 0.1; done; exit 1'
    : 'kubectl create serviceaccount default';
  const result = await shell(
    `kubectl create namespace ${namespace} && kubectl config set-context --current --namespace ${namespace} && ${account}`,
  );
  if (result.code !== 0) throw new Error(`no namespace to work in: ${result.err}`);
}

/** Runs one step and says what is wrong with it; an empty answer is success. */
export async function runStep(session: Session, step: Step): Promise<readonly string[]> {
  const deadline = performance.now() + (step.within ?? 0) * 1000;
  for (;;) {
    const result = await session.shell(step.run, step.input?.replaceAll('$NS', session.namespace));
    const failures = [...outputFailures(result, step), ...(await jsonFailures(session, step, result))];
    if (failures.length === 0) return failures;
    if (performance.now() >= deadline) return [...failures, ...shown(result)];
    await delay(200);
  }
}

function outputFailures(result: ProgramResult, step: Step): readonly string[] {
  const expected = step.code ?? 0;
  const missing = (text: string, name: string, patterns: Step['out']): readonly string[] =>
    list(patterns)
      .filter((pattern) => !new RegExp(pattern, 'm').test(text))
      .map((pattern) => `${name} does not match /${pattern}/`);
  return [
    ...(result.code === expected ? [] : [`exit code ${result.code}, expected ${expected}`]),
    ...missing(result.out, 'output', step.out),
    ...missing(result.err, 'error output', step.err),
    ...list(step.not)
      .filter((pattern) => new RegExp(pattern, 'm').test(result.out))
      .map((pattern) => `output matches /${pattern}/`),
  ];
}

async function jsonFailures(session: Session, step: Step, result: ProgramResult): Promise<readonly string[]> {
  if (step.json === undefined) return [];
  const seen = step.see === undefined ? result : await session.shell(`kubectl get ${step.see} -o json`);
  if (step.see !== undefined && seen.code !== 0) return [`kubectl get ${step.see}: ${seen.err.trim()}`];
  try {
    return failedPredicates(JSON.parse(seen.out), step.json);
  } catch (error) {
    return [`no JSON: ${String(error)}`];
  }
}

function list(patterns: string | readonly string[] | undefined): readonly string[] {
  if (patterns === undefined) return [];
  return typeof patterns === 'string' ? [patterns] : patterns;
}

function shown(result: ProgramResult): readonly string[] {
  return [
    ['out', result.out],
    ['err', result.err],
  ]
    .filter(([, text]) => text?.trim() !== '')
    .map(([name, text]) => `  ${name}: ${text?.trim().slice(0, 1500).replaceAll('\n', '\n    ')}`);
}

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpServer } from '@sheaf/apiserver';
import { systemClock } from '@sheaf/drivers/system';
import { testCertificates } from '@sheaf/testkit';
import { type ProgramOptions, type ProgramResult, runProgram } from '../program.ts';
import type { WorkloadHost } from './workload-host.ts';

/** kubectl before it spoke WebSockets. */
export const spdyEnvironment = {
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
  KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
};

/** A kubectl that goes on, such as a follower of a log. */
export interface RunningKubectl {
  out(): string;
  err(): string;
  readonly process: ChildProcessWithoutNullStreams;
  /** Resolves with its exit code; -1: it was ended by a signal. */
  readonly ended: Promise<number>;
}

/** The real kubectl over real HTTPS to the API server of a host. */
export interface Kubectl {
  readonly kubeconfig: string;
  /** What it is told by the environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly directory: string;
  run(args: readonly string[], options?: ProgramOptions): Promise<ProgramResult>;
  start(args: readonly string[], env?: Readonly<Record<string, string>>): RunningKubectl;
  close(): Promise<void>;
}

export async function openKubectl(program: string, { handle }: WorkloadHost): Promise<Kubectl> {
  const { authority, admin, serving } = await testCertificates();
  const tls = { key: serving.privateKeyPem, cert: serving.certificatePem, ca: authority.certificatePem };
  const http = new HttpServer({ handler: handle, clock: systemClock, tls });
  const { port } = await http.listen('127.0.0.1', 0);
  const directory = await mkdtemp(join(tmpdir(), 'sheaf-kubectl-'));
  const kubeconfig = join(directory, 'kubeconfig');
  await writeFile(kubeconfig, kubeconfigOf(port, { authority: authority.certificatePem, admin }));
  const environment = { KUBECONFIG: kubeconfig, KUBECACHEDIR: join(directory, 'cache'), HOME: directory };
  const started = new Set<ChildProcessWithoutNullStreams>();
  return {
    kubeconfig,
    environment,
    directory,
    run: (args, options = {}) =>
      runProgram(program, args, { ...options, env: { ...environment, ...options.env } }),
    start(args, env = {}) {
      const running = startKubectl(program, args, { ...environment, ...env });
      started.add(running.process);
      return running;
    },
    async close() {
      for (const child of started) child.kill('SIGKILL');
      await http.close(100);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** The caller ends it. */
export function startKubectl(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): RunningKubectl {
  const child = spawn(program, args, { env: { ...process.env, ...env } });
  let [out, err] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  child.stdin.on('error', () => undefined);
  const ended = new Promise<number>((resolve) => child.once('close', (code) => resolve(code ?? -1)));
  return { process: child, ended, out: () => out, err: () => err };
}

interface Pems {
  readonly certificatePem: string;
  readonly privateKeyPem: string;
}

/** JSON is YAML, too. */
function kubeconfigOf(port: number, { authority, admin }: { authority: string; admin: Pems }): string {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const name = 'here';
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    contexts: [{ name, context: { cluster: name, user: name } }],
    clusters: [
      {
        name,
        cluster: { server: `https://127.0.0.1:${port}`, 'certificate-authority-data': base64(authority) },
      },
    ],
    users: [
      {
        name,
        user: {
          'client-certificate-data': base64(admin.certificatePem),
          'client-key-data': base64(admin.privateKeyPem),
        },
      },
    ],
  });
}

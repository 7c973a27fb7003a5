import type { Container, ExecAction, HTTPGetAction, Probe } from '@sheaf/api/workload/index';
import type { CheckResult, Containers, HttpCheck, NetworkChecks } from '@sheaf/ports';

/** As much of what a command prints as an event has room for. */
const outputLimit = 1024;

export interface CheckedContainer {
  readonly container: Container;
  readonly runId: string;
  readonly sandboxId: string;
}

type Action = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'>;

export interface ContainerChecksOptions {
  readonly containers: Pick<Containers, 'execute'>;
  readonly network: NetworkChecks;
  /** Where the containers of a sandbox listen, unless a probe names a host. */
  readonly addressOf: (sandboxId: string, signal: AbortSignal) => Promise<string>;
}

/** Carries out what probes and hooks say, once. */
export class ContainerChecks {
  readonly #options: ContainerChecksOptions;

  constructor(options: ContainerChecksOptions) {
    this.#options = options;
  }

  async carryOut(target: CheckedContainer, action: Action, signal: AbortSignal): Promise<CheckResult> {
    const { exec, httpGet, tcpSocket, grpc } = action;
    if (exec) return this.#execute(target, exec, signal);
    const { network } = this.#options;
    const host = await this.#hostOf(target, httpGet ?? tcpSocket, signal);
    if (httpGet) return network.http(httpCheck(target, httpGet, host), signal);
    if (tcpSocket) return network.tcp({ host, port: portOf(target.container, tcpSocket.port) }, signal);
    if (grpc) return network.grpc({ host, port: grpc.port, service: grpc.service ?? '' }, signal);
    return { isHealthy: true };
  }

  async #hostOf(
    { sandboxId }: CheckedContainer,
    action: { readonly host?: string } | undefined,
    signal: AbortSignal,
  ): Promise<string> {
    return action?.host || (await this.#options.addressOf(sandboxId, signal));
  }

  async #execute(
    { runId }: CheckedContainer,
    { command = [] }: ExecAction,
    signal: AbortSignal,
  ): Promise<CheckResult> {
    const process = await this.#options.containers.execute(
      runId,
      { command, hasInput: false, hasTerminal: false },
      signal,
    );
    // One that is too late, or that nobody waits for any more, is ended.
    const end = (): void => process.dispose();
    signal.addEventListener('abort', end, { once: true });
    try {
      let said = '';
      for await (const { bytes } of process.output)
        if (said.length < outputLimit) said += Buffer.from(bytes).toString();
      const code = await process.exitCode(signal);
      if (code === 0) return { isHealthy: true };
      return { isHealthy: false, text: said.slice(0, outputLimit).trim() || `command ended with ${code}` };
    } finally {
      signal.removeEventListener('abort', end);
      process.dispose();
    }
  }
}

function httpCheck({ container }: CheckedContainer, get: HTTPGetAction, host: string): HttpCheck {
  return {
    scheme: get.scheme === 'HTTPS' ? 'https' : 'http',
    host,
    port: portOf(container, get.port),
    path: get.path ?? '/',
    headers: get.httpHeaders ?? [],
  };
}

/** A port by its number, or by the name that the container gives it. */
function portOf({ ports = [] }: Container, port: number | string): number {
  if (typeof port === 'number') return port;
  return ports.find(({ name }) => name === port)?.containerPort ?? (Number(port) || 0);
}

import type { Container, ExecAction, HTTPGetAction, Pod, Probe } from '@sheaf/api/workload/index';
import type { CheckResult, Containers, HttpCheck, NetworkChecks } from '@sheaf/ports';

/** As much of what a command prints as an event has room for. */
const outputLimit = 1024;

export interface CheckedContainer {
  readonly pod: Pod;
  readonly container: Container;
  readonly runId: string;
  /** Where it listens, unless the probe names a host. */
  readonly address: string;
}

type Action = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'>;

/** Carries out what probes and hooks say, once. */
export class ContainerChecks {
  readonly #containers: Pick<Containers, 'execute'>;
  readonly #network: NetworkChecks;

  constructor(containers: Pick<Containers, 'execute'>, network: NetworkChecks) {
    this.#containers = containers;
    this.#network = network;
  }

  async carryOut(target: CheckedContainer, action: Action, signal: AbortSignal): Promise<CheckResult> {
    const { exec, httpGet, tcpSocket, grpc } = action;
    if (exec) return this.#execute(target, exec, signal);
    if (httpGet) return this.#network.http(httpCheck(target, httpGet), signal);
    if (tcpSocket) {
      const host = tcpSocket.host || target.address;
      return this.#network.tcp({ host, port: portOf(target.container, tcpSocket.port) }, signal);
    }
    if (grpc)
      return this.#network.grpc(
        { host: target.address, port: grpc.port, service: grpc.service ?? '' },
        signal,
      );
    return { isHealthy: true };
  }

  async #execute(
    { runId }: CheckedContainer,
    { command = [] }: ExecAction,
    signal: AbortSignal,
  ): Promise<CheckResult> {
    const process = await this.#containers.execute(
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

function httpCheck({ container, address }: CheckedContainer, get: HTTPGetAction): HttpCheck {
  return {
    scheme: get.scheme === 'HTTPS' ? 'https' : 'http',
    host: get.host || address,
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

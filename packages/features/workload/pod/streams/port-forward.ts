import type { PortsAnswer } from '@sheaf/api';
import { badRequest, StatusError, toError } from '@sheaf/base';
import { type PodRequest, type PodStreamParts, runningPod } from './pod-target.ts';

/** Connections to ports of a pod, as its own processes make them to `localhost`. */
export async function forwardPorts(parts: PodStreamParts, request: PodRequest): Promise<PortsAnswer> {
  const ports = portsOf(request.query);
  const { pod, sandboxId } = await runningPod(parts, request);
  const { name, uid } = pod.metadata;
  return {
    kind: 'ports',
    ports,
    async open(port, signal) {
      try {
        return await parts.containers.openPort(sandboxId, { port }, signal);
      } catch (error) {
        throw new StatusError({
          reason: 'ServiceUnavailable',
          message: `error forwarding port ${port} to pod ${name}, uid ${uid}: ${toError(error).message}`,
          cause: error,
        });
      }
    },
  };
}

const mostPorts = 100;

/** @throws StatusError 400 */
function portsOf(query: URLSearchParams): readonly number[] {
  const texts = query
    .getAll('ports')
    .flatMap((text) => text.split(','))
    .filter((text) => text !== '');
  if (texts.length > mostPorts) throw badRequest(`at most ${mostPorts} ports can be forwarded at once`);
  return texts.map((text) => {
    const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
    if (port > 0 && port < 65_536) return port;
    throw badRequest(`${JSON.stringify(text)} is no port: ask for one between 1 and 65535`);
  });
}

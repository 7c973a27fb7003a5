import { fileURLToPath } from 'node:url';
import { helmImage, helmUserId } from '@sheaf/ports';
import type { HostProgram } from '../host-processes/register.ts';
import type { HelmSource } from './helm-source.ts';

export interface HelmProgramOptions {
  readonly source: HelmSource;
  /** `HOST:PORT` of the API server, as the host reaches it. */
  readonly serverAddress: () => string;
  /** Charts for use without a network. */
  readonly chartsDirectory: string;
}

const runnerPath = fileURLToPath(new URL('run-helm.ts', import.meta.url));

/** In the words of klipper-helm; nothing of it makes Helm run another program. */
const variables = [
  'NAME',
  'VERSION',
  'REPO',
  'CHART',
  'CHART_NAMESPACE',
  'TARGET_NAMESPACE',
  'HELM_DRIVER',
  'TIMEOUT',
  'FAILURE_POLICY',
  'CONFIG_HASH',
  'AUTH_PASS_CREDENTIALS',
  'INSECURE_SKIP_TLS_VERIFY',
  'PLAIN_HTTP',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
];

/** Helm as a program of the host that containers may run. */
export function helmProgram({ source, serverAddress, chartsDirectory }: HelmProgramOptions): HostProgram {
  return {
    reference: helmImage,
    command: [process.execPath, runnerPath],
    get environment() {
      const address = serverAddress();
      const colon = address.lastIndexOf(':');
      return {
        SHEAF_HELM: source.find() ?? '',
        SHEAF_CHARTS: chartsDirectory,
        KUBERNETES_SERVICE_HOST: address.slice(0, colon),
        KUBERNETES_SERVICE_PORT: address.slice(colon + 1),
      };
    },
    variables,
    userId: helmUserId,
    problem: () => source.problem(),
    // Sheaf was killed and has come back elsewhere: Helm would wait at the old address for as long as it has patience.
    whyInVain({ KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }) {
      const now = serverAddress();
      const then = `${host}:${port}`;
      if (now === '' || now === then) return undefined;
      return `the API server is at ${now} now, and this was begun when it was at ${then}`;
    },
  };
}

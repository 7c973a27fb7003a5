import { readFile, writeFile } from 'node:fs/promises';
import type { PeerCertificates } from './certificates.ts';

/** Writes an administrator's kubeconfig (client certificate, mode 0600) for `server` to `path`. */
export async function writeKubeconfig(
  path: string,
  server: string,
  certificates: PeerCertificates,
): Promise<void> {
  const base64 = async (file: string): Promise<string> => (await readFile(file)).toString('base64');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'peer', cluster: { server, 'certificate-authority-data': await base64(certificates.ca) } },
    ],
    users: [
      {
        name: 'admin',
        user: {
          'client-certificate-data': await base64(certificates.admin),
          'client-key-data': await base64(certificates.adminKey),
        },
      },
    ],
    contexts: [{ name: 'peer', context: { cluster: 'peer', user: 'admin' } }],
    'current-context': 'peer',
  };
  await writeFile(path, `${JSON.stringify(config, undefined, 2)}\n`, { mode: 0o600 });
}

import type { Secret } from '@sheaf/base';

export interface KubeconfigContent {
  /** e.g. `https://127.0.0.1:6443`. */
  readonly server: string;
  readonly authorityPem: string;
  /** Name of cluster and context; `default` if absent. */
  readonly clusterName?: string;
  readonly userName?: string;
  readonly credentials:
    | { readonly certificatePem: string; readonly privateKeyPem: string }
    | { readonly token: Secret<string> };
}

/** The text of a kubeconfig with everything embedded; it is as secret as the credentials in it. */
export function kubeconfigText(content: KubeconfigContent): string {
  const cluster = quote(content.clusterName ?? 'default');
  const user = quote(content.userName ?? 'kubernetes-admin');
  return `apiVersion: v1
kind: Config
clusters:
- name: ${cluster}
  cluster:
    server: ${quote(content.server)}
    certificate-authority-data: ${base64(content.authorityPem)}
contexts:
- name: ${cluster}
  context:
    cluster: ${cluster}
    user: ${user}
current-context: ${cluster}
preferences: {}
users:
- name: ${user}
  user:
${credentialLines(content.credentials)}
`;
}

function credentialLines(credentials: KubeconfigContent['credentials']): string {
  if ('token' in credentials) return `    token: ${quote(credentials.token.reveal())}`;
  return `    client-certificate-data: ${base64(credentials.certificatePem)}
    client-key-data: ${base64(credentials.privateKeyPem)}`;
}

/** JSON strings are YAML strings; plain words stay as they are. */
function quote(text: string): string {
  return /^[A-Za-z][A-Za-z0-9.-]*$/.test(text) && !/^(true|false|null|yes|no|on|off)$/i.test(text)
    ? text
    : JSON.stringify(text);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

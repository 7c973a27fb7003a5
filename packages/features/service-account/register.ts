import type { KubeObject } from '@sheaf/api';
import { resources } from '@sheaf/client';
import { keyOf, type Manager } from '@sheaf/runtime';
import { accountNameAnnotation, tokenSecretType } from './plan.ts';
import { reconcileNamespace, reconcileToken, type ServiceAccountOptions } from './reconcile.ts';

export type { ServiceAccountOptions, TokenSubject } from './reconcile.ts';

/** Default accounts, the authority's ConfigMaps, and token Secrets. */
export function register(manager: Manager, options: ServiceAccountOptions): void {
  registerDefaults(manager, options);
  registerTokens(manager, options);
}

function registerDefaults(manager: Manager, { authority }: ServiceAccountOptions): void {
  const { client } = manager;
  const namespaces = manager.informer(resources.namespaces);
  const accounts = manager.informer(resources.serviceAccounts, { metadataOnly: true });
  const configMaps = manager.informer(resources.configMaps, {
    fieldSelector: 'metadata.name=kube-root-ca.crt',
  });
  manager
    .controller({
      name: 'service-account-defaults',
      concurrency: 4,
      reconcile: (key, signal) =>
        reconcileNamespace(client, { namespace: namespaces.cache.get(key), authority }, signal),
    })
    .watch(namespaces)
    .watchMapped(accounts, (account) => (account.metadata.name === 'default' ? namespaceOf(account) : []))
    .watchMapped(configMaps, namespaceOf);
}

function registerTokens(manager: Manager, options: ServiceAccountOptions): void {
  const secrets = manager.informer(resources.secrets, {
    metadataOnly: true,
    fieldSelector: `type=${tokenSecretType}`,
  });
  const accounts = manager.informer(resources.serviceAccounts, { metadataOnly: true });
  manager
    .controller({
      name: 'service-account-tokens',
      concurrency: 4,
      reconcile: (key, signal) => reconcileToken(manager.client, { key, options }, signal),
    })
    .watch(secrets)
    .watchMapped(accounts, (account) =>
      secrets.cache
        .list(account.metadata.namespace)
        .filter(({ metadata }) => metadata.annotations?.[accountNameAnnotation] === account.metadata.name)
        .map((secret) => keyOf(secret)),
    );
}

function namespaceOf({ metadata }: KubeObject): readonly string[] {
  return [metadata.namespace ?? ''];
}

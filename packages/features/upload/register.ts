import type { ApiExtensions } from '@sheaf/api';
import { uploadImageIdOf } from '@sheaf/api/virtualization/index';
import { type Clock, DisposableStore, type Random } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Images } from '@sheaf/ports';
import { keyOf, type Manager } from '@sheaf/runtime';
import { registerRoles } from './access-roles.ts';
import { uploadRule } from './admission.ts';
import { type ProxyAddress, tellAddress } from './proxy-address.ts';
import { proxyRoutes, type UploadDesk } from './proxy-routes.ts';
import { isConcerned, reconcileUpload } from './reconcile.ts';
import { tokenGroup } from './token-request.ts';
import { UploadTokens } from './upload-tokens.ts';
import { UploadTurns } from './upload-turns.ts';

export interface ExtendOptions {
  readonly client: Client;
  readonly clock: Clock;
  readonly random: Random;
  readonly images: Images;
  /** Where images that are sent to us come in. */
  readonly uploads: UploadDesk;
}

/** Adds upload tokens, the proxy that takes them, and the rules of claims that are uploaded to. */
export function extend(api: ApiExtensions, options: ExtendOptions): void {
  const parts = { ...options, tokens: new UploadTokens(options), turns: new UploadTurns(options.clock) };
  api.addAdmission(uploadRule);
  api.addGroup(tokenGroup(parts));
  for (const route of proxyRoutes(parts)) api.addRoute(route);
}

export interface UploadOptions {
  readonly images: Images;
  readonly address: ProxyAddress;
}

const concurrency = 4;

/** Gives claims that are uploaded to a place for their bytes, and tells clients how far they are. */
export function register(manager: Manager, { images, address }: UploadOptions): void {
  const { client } = manager;
  const claims = manager.informer(resources.persistentVolumeClaims);
  const volumes = manager.informer(resources.persistentVolumes);
  const configs = manager.informer(resources.cdiConfigs);
  const parts = { client, images, claims: claims.cache, volumes: volumes.cache };
  const loop = manager
    .controller({
      name: 'claim-upload',
      concurrency,
      reconcile: (key, signal) => reconcileUpload(parts, key, signal),
    })
    .watch(claims)
    .watchMapped(volumes, ({ spec: { claimRef } }) =>
      claimRef ? [`${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`] : [],
    );
  manager
    .controller({
      name: 'upload-address',
      reconcile: (_key, signal) => tellAddress(client, address, signal),
    })
    .watchMapped(configs, () => ['config'])
    .queue.add('config');
  registerRoles(manager);
  const lifetime = new DisposableStore();
  lifetime.add(
    images.onChange((id) => {
      for (const claim of claims.cache.list())
        if (isConcerned(claim) && uploadImageIdOf(claim) === id) loop.queue.add(keyOf(claim));
    }),
  );
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

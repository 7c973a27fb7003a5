import type { Manager } from '@sheaf/runtime';
import { type CertificateSigningOptions, SigningRequestReconciler, signingRequests } from './reconcile.ts';

export type { CertificateSigningOptions, SigningAnswer, SigningOrder } from './reconcile.ts';

/** Approves kubelets' requests for certificates, signs approved ones, clears away old ones. */
export function register(manager: Manager, options: CertificateSigningOptions): void {
  const reconciler = new SigningRequestReconciler(manager, options);
  manager
    .controller({
      name: 'certificate-signing',
      reconcile: (key, signal) => reconciler.reconcile(key, signal),
    })
    .watch(manager.informer(signingRequests));
}

import type { KubeObject } from '@sheaf/api';
import { StatusError } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { notFound } from '../verbs/errors.ts';
import { objectAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { refusal } from './refusal.ts';

const protectedNamespaces: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public']);
const namespaceResource = { group: '', plural: 'namespaces' };

/** Nothing is made in a namespace that is missing or on its way out, and the system's namespaces stay. */
export function namespaceLifecycle(views: LiveViews): AdmissionPlugin {
  const namespaces = views.of('', 'namespaces');
  return {
    name: 'NamespaceLifecycle',
    handles: (request) => request.operation !== 'CONNECT',
    mutate(request) {
      if (isNamespace(request)) checkDeletion(request);
      else if (request.operation !== 'DELETE') checkNamespace(request, namespaces);
    },
  };
}

function isNamespace({ kind }: AdmissionRequest): boolean {
  return kind.kind === 'Namespace' && kind.group === '';
}

function checkDeletion(request: AdmissionRequest): void {
  if (request.operation !== 'DELETE' || !protectedNamespaces.has(request.name)) return;
  throw refusal(request, 'this namespace may not be deleted');
}

function checkNamespace(request: AdmissionRequest, namespaces: LiveView): void {
  const { namespace, resource } = request;
  // An answer about the namespace of an access review would tell of namespaces that the user may not see.
  if (namespace === '' || resource.resource === 'localsubjectaccessreviews') return;
  const found = namespaces.get('', namespace);
  if (!found) throw notFound(namespaceResource, namespace);
  if (request.operation === 'CREATE' && isTerminating(found)) throw terminating(request);
}

function isTerminating(namespace: KubeObject): boolean {
  return textAt(objectAt(namespace, 'status'), 'phase') === 'Terminating';
}

function terminating(request: AdmissionRequest): StatusError {
  const { namespace } = request;
  const refused = refusal(
    request,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
  );
  const cause = {
    reason: 'NamespaceTerminating',
    message: `namespace ${namespace} is being terminated`,
    field: 'metadata.namespace',
  };
  return new StatusError({
    reason: 'Forbidden',
    message: refused.message,
    details: { ...refused.details, causes: [cause] },
  });
}

import { asJson, type KubeObject } from '@sheaf/api';
import type { Clock, Disposable, JsonObject, Random } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { ensureObject, flagAt, objectAt, objectsAt, textAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { refusal } from './refusal.ts';
import { checkMirrorPod, checkMountableSecrets, isMirrorPod } from './service-account-secrets.ts';
import { mountToken } from './token-volume.ts';

export interface ServiceAccountOptions {
  readonly views: LiveViews;
  readonly random: Random;
  readonly clock: Clock;
  /** How long a new pod waits for the `default` account of a namespace that has just been made. Milliseconds. */
  readonly defaultAccountWaitMs: number;
}

const defaultAccount = 'default';

/** Pods run as a service account that exists, and can reach the API server with a token of it. */
export function serviceAccountPlugin(options: ServiceAccountOptions): AdmissionPlugin {
  const accounts = options.views.of('', 'serviceaccounts');
  return {
    name: 'ServiceAccount',
    handles: isPodWrite,
    mutate: (request) => (request.operation === 'CREATE' ? complete(request, accounts, options) : undefined),
    validate(request) {
      if (request.object) checkPod(request, request.object, accounts);
    },
  };
}

/** Of changes only new ephemeral containers are looked at. */
function isPodWrite({ resource, subresource, operation, object }: AdmissionRequest): boolean {
  if (resource.resource !== 'pods' || resource.group !== '' || !object) return false;
  return operation === 'CREATE'
    ? subresource === ''
    : operation === 'UPDATE' && subresource === 'ephemeralcontainers';
}

async function complete(
  request: AdmissionRequest,
  accounts: LiveView,
  options: ServiceAccountOptions,
): Promise<void> {
  const pod = request.object;
  if (!pod || isMirrorPod(pod)) return;
  const spec = ensureObject(asJson(pod), 'spec');
  const name = textAt(spec, 'serviceAccountName') || defaultAccount;
  spec['serviceAccountName'] = name;
  spec['serviceAccount'] = name;
  if (name === defaultAccount && !accounts.get(request.namespace, name))
    await appearance(request, accounts, options);
  const account = getAccount(request, accounts, name);
  if (flagAt(spec, 'automountServiceAccountToken') ?? flagAt(account, 'automountServiceAccountToken') ?? true)
    mountToken(spec, options.random);
  if (objectsAt(spec, 'imagePullSecrets').length === 0) takePullSecrets(spec, account);
}

function takePullSecrets(spec: JsonObject, account: KubeObject): void {
  const secrets = objectsAt(account, 'imagePullSecrets');
  if (secrets.length > 0)
    spec['imagePullSecrets'] = secrets.map((secret) => ({ name: textAt(secret, 'name') }));
}

/** Ends when the default account is there, or when it is time to do without. */
function appearance(
  { namespace, signal }: AdmissionRequest,
  accounts: LiveView,
  { clock, defaultAccountWaitMs }: ServiceAccountOptions,
): Promise<void> | undefined {
  if (defaultAccountWaitMs <= 0) return undefined;
  const parts: Disposable[] = [];
  return new Promise<void>((resolve) => {
    parts.push(clock.schedule(defaultAccountWaitMs, resolve));
    parts.push(
      accounts.onChange((change) => {
        if (change.object && change.namespace === namespace && change.name === defaultAccount) resolve();
      }),
    );
    signal.addEventListener('abort', () => resolve(), { once: true });
  }).finally(() => {
    for (const part of parts) part.dispose();
  });
}

/** @throws StatusError 403 that names the missing account */
function getAccount(request: AdmissionRequest, accounts: LiveView, name: string): KubeObject {
  const account = accounts.get(request.namespace, name);
  if (account) return account;
  const missing = `serviceaccount ${JSON.stringify(name)} not found`;
  throw refusal(request, `error looking up service account ${request.namespace}/${name}: ${missing}`);
}

function checkPod(request: AdmissionRequest, pod: KubeObject, accounts: LiveView): void {
  if (request.operation === 'CREATE' && isMirrorPod(pod)) return checkMirrorPod(request, pod);
  const spec: JsonObject = objectAt(pod, 'spec');
  const name = textAt(spec, 'serviceAccountName');
  if (name === '') {
    throw refusal(
      request,
      `no service account specified for pod ${request.namespace}/${pod.metadata.name ?? ''}`,
    );
  }
  const account = getAccount(request, accounts, name);
  if (!isLimited(account)) return;
  const fault = checkMountableSecrets(spec, account, request.operation === 'CREATE');
  if (fault) throw refusal(request, fault);
}

const yes: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);

function isLimited(account: KubeObject): boolean {
  return yes.has(account.metadata.annotations?.['kubernetes.io/enforce-mountable-secrets'] ?? '');
}

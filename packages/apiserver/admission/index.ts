import type { Clock, Random } from '@sheaf/base';
import type { Authorizer } from '../authorization/attributes.ts';
import type { LiveViews } from '../storage/live-view.ts';
import type { WebhookCaller } from '../webhook/index.ts';
import { certificateRequester } from './certificate-requester.ts';
import {
  certificateApproval,
  certificateSigning,
  certificateSubjectRestriction,
} from './certificate-rules.ts';
import { defaultIngressClass, defaultStorageClass } from './default-classes.ts';
import { expressionChecks } from './expression-checks.ts';
import { limitRanger } from './limit-ranger.ts';
import { mutatingPolicies } from './mutating-policies.ts';
import { mutatingWebhooks } from './mutating-webhooks.ts';
import { namespaceLifecycle } from './namespace-lifecycle.ts';
import type { AdmissionPlugin } from './plugin.ts';
import { defaultTolerations, taintNewNodes } from './pod-defaults.ts';
import { podSecurity } from './pod-security.ts';
import { priorityPlugin } from './priority.ts';
import { resourceQuota } from './resource-quota.ts';
import { runtimeClassPlugin } from './runtime-class.ts';
import type { ServedKinds } from './served-versions.ts';
import { serviceAccountPlugin } from './service-account.ts';
import { serviceAddresses } from './service-addresses.ts';
import { claimResize, storageProtection } from './storage-rules.ts';
import { validatingPolicies } from './validating-policies.ts';
import { validatingWebhooks } from './validating-webhooks.ts';

export interface AdmissionOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly views: LiveViews;
  readonly authorizer: Authorizer;
  readonly caller: WebhookCaller;
  readonly kinds: ServedKinds;
  /** Plugins that other parts of the server bring: they run where upstream has them. */
  readonly nodeRestriction?: AdmissionPlugin;
  readonly escalation?: AdmissionPlugin;
  /** The rules of features: before the policies and webhooks of users, which see what they make of an object. */
  readonly rules?: readonly AdmissionPlugin[];
  /** IPv4 subnet of cluster addresses; default 10.43.0.0/16. */
  readonly serviceSubnet?: string;
  /** First and last node port; default 30000 to 32767. */
  readonly nodePorts?: readonly [number, number];
  /** How long a new pod waits for the `default` account of its namespace; default 0. */
  readonly defaultAccountWaitMs?: number;
}

/** The plugins of the API server, in upstream's order. */
export function admissionPlugins(options: AdmissionOptions): readonly AdmissionPlugin[] {
  const {
    serviceSubnet = '10.43.0.0/16',
    nodePorts = [30_000, 32_767],
    defaultAccountWaitMs = 0,
    nodeRestriction,
    escalation,
  } = options;
  const outerParts = { ...options, namespaces: options.views.of('', 'namespaces') };
  const { views, authorizer } = options;
  return [
    namespaceLifecycle(views),
    limitRanger(views),
    serviceAccountPlugin({ ...options, defaultAccountWaitMs }),
    ...(nodeRestriction ? [nodeRestriction] : []),
    taintNewNodes(),
    podSecurity(views),
    priorityPlugin(views),
    defaultTolerations(),
    defaultStorageClass(views),
    storageProtection(),
    claimResize(views),
    runtimeClassPlugin(views),
    certificateRequester(),
    certificateApproval(authorizer),
    certificateSigning(authorizer),
    certificateSubjectRestriction(),
    defaultIngressClass(views),
    ...(escalation ? [escalation] : []),
    expressionChecks(),
    ...(options.rules ?? []),
    mutatingPolicies(views, outerParts),
    mutatingWebhooks(views, outerParts),
    validatingPolicies(views, outerParts),
    validatingWebhooks(views, outerParts),
    resourceQuota(options),
    serviceAddresses({ ...options, serviceSubnet, nodePorts }),
  ];
}

export { RegistryKinds } from './served-versions.ts';

import { timestampOf } from '@sheaf/api';
import type {
  VirtualMachineImage,
  VirtualMachineTemplate,
  VirtualMachineTemplateVersion,
} from '@sheaf/api/virtualization/index';
import { type Clock, StatusError } from '@sheaf/base';
import { type Client, refOf, resources } from '@sheaf/client';
import { done, type ReconcileResult } from '@sheaf/runtime';
import type { BuiltIn } from './built-in/built-in.ts';
import { builtIns } from './built-in/everything.ts';
import { planTemplate } from './plan.ts';
import { parseReference, referenceTo } from './references.ts';

export interface TemplateParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly findImage: (reference: string) => VirtualMachineImage | undefined;
}

/** Numbers the versions of one template, and writes which is the newest and which is used. */
export async function reconcileTemplate(
  parts: TemplateParts,
  key: string,
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const { client, clock } = parts;
  const reference = parseReference(key);
  const template = reference && (await client.find(resources.virtualMachineTemplates, reference, signal));
  if (!template || template.metadata.deletionTimestamp !== undefined) return done;
  const plan = planTemplate({
    template,
    versions: await versionsOf(client, template, signal),
    isImported: (image) => isImported(parts.findImage(image)),
    now: timestampOf(clock),
  });
  for (const version of plan.versions)
    await client.update(resources.virtualMachineTemplateVersions, version, { signal });
  if (plan.template) await client.update(resources.virtualMachineTemplates, plan.template, { signal });
  if (plan.status) await client.updateStatus(resources.virtualMachineTemplates, plan.status, { signal });
  return done;
}

/** Asked of the server: from a picture that is behind, a number could be given twice. */
async function versionsOf(
  client: Client,
  template: VirtualMachineTemplate,
  signal: AbortSignal,
): Promise<readonly VirtualMachineTemplateVersion[]> {
  const { namespace = '' } = template.metadata;
  const { items } = await client.list(resources.virtualMachineTemplateVersions, { namespace, signal });
  return items.filter(({ spec }) => spec.templateId === referenceTo(template));
}

function isImported(image: VirtualMachineImage | undefined): boolean {
  return (
    image?.status?.conditions?.some(({ type, status }) => type === 'Imported' && status === 'True') ?? false
  );
}

/** Makes what comes with the release and is missing. What someone has changed stays, until it is deleted and the server starts. */
export async function makeBuiltIns(client: Client, signal: AbortSignal): Promise<ReconcileResult> {
  for (const builtIn of builtIns) await make(client, builtIn, signal);
  return done;
}

async function make(
  client: Client,
  { resource, object, owner }: BuiltIn,
  signal: AbortSignal,
): Promise<void> {
  // Asking is cheaper than a refusal, for which the server compiles the whole schema of a virtual machine.
  if (await client.find(resource, refOf(object), signal)) return;
  const found = owner && (await client.find(owner.resource, owner, signal));
  const ownerReferences = found && [
    {
      apiVersion: found.apiVersion ?? '',
      kind: found.kind ?? '',
      name: owner.name,
      uid: found.metadata.uid ?? '',
    },
  ];
  const metadata = { ...object.metadata, ...(ownerReferences ? { ownerReferences } : {}) };
  try {
    await client.create(resource, { ...object, metadata }, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

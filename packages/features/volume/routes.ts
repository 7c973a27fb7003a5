import { emptyAnswer, type PlainAnswer, type Route, type RouteRequest, textAnswer } from '@sheaf/api';
import { type PersistentVolumeClaim, storageDriver } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { cancelledSize, clonedClaim, exportedImage, snapshotClassOf, snapshotOf } from './actions.ts';
import { bytesOf } from './claim-content.ts';
import { classNameOf, requestedText } from './volume-object.ts';

const path = '/v1/harvester/persistentvolumeclaims/{namespace}/{name}';

type Action = (call: ActionCall) => Promise<void>;

interface ActionCall {
  readonly client: Client;
  readonly request: RouteRequest;
  readonly claim: PersistentVolumeClaim;
  /** A text of the body that must be there. */
  readonly text: (field: string) => string;
  readonly optionalText: (field: string) => string;
}

const actions: Readonly<Record<string, Action>> = {
  export: exportVolume,
  cancelExpand: cancelExpansion,
  clone: cloneVolume,
  snapshot: takeSnapshot,
  dataMigration: refuseMigration,
};

/** Harvester's actions on volumes. */
export function volumeRoutes(client: Client): readonly Route[] {
  return Object.entries(actions).map(([action, act]) => ({
    method: 'POST',
    path,
    action,
    access: 'authorized',
    async handle(request) {
      await run({ client, action, act }, request);
      return emptyAnswer(204);
    },
    failure,
  }));
}

async function run(
  { client, action, act }: { readonly client: Client; readonly action: string; readonly act: Action },
  request: RouteRequest,
): Promise<void> {
  const { namespace = '', name = '' } = request.parameters;
  const place = { group: '', resource: 'persistentvolumeclaims', namespace, name };
  await request.authorize({ verb: 'get', ...place });
  await request.authorize({ verb: 'update', ...place });
  const claim = await client.get(resources.persistentVolumeClaims, { namespace, name }, request.signal);
  if (claim.status?.phase !== 'Bound')
    throw refusal('InvalidAction', 'the volume is not bound; wait until it is, `sheaf why` tells what for');
  const isResizing = bytesOf(requestedText(claim)) - bytesOf(claim.status.capacity?.['storage']) > 1;
  if (isResizing && action !== 'cancelExpand')
    throw refusal('InvalidAction', 'the volume is being expanded; wait until it is, or cancel the expansion');
  const body = await readBody(request);
  await act({
    client,
    request,
    claim,
    text(field) {
      const value = body[field];
      if (typeof value === 'string' && value !== '') return value;
      throw refusal('InvalidBodyContent', `Parameter \`${field}\` is required; give it as a text`);
    },
    optionalText: (field) => (typeof body[field] === 'string' ? body[field] : ''),
  });
}

async function readBody(request: RouteRequest): Promise<Readonly<Record<string, unknown>>> {
  try {
    return (await request.body.json()) ?? {};
  } catch (error) {
    if (!StatusError.is(error, 'BadRequest')) throw error;
    throw refusal(
      'InvalidBodyContent',
      `Failed to decode request body: ${error.message}; send a JSON object`,
    );
  }
}

async function exportVolume({ client, request, claim, text, optionalText }: ActionCall): Promise<void> {
  const namespace = text('namespace');
  await request.authorize({
    verb: 'create',
    group: 'harvesterhci.io',
    resource: 'virtualmachineimages',
    namespace,
  });
  const order = {
    displayName: text('displayName'),
    namespace,
    storageClassName: optionalText('storageClassName'),
  };
  await client.create(resources.virtualMachineImages, exportedImage(claim, order), {
    signal: request.signal,
  });
}

async function cancelExpansion({ client, request, claim }: ActionCall): Promise<void> {
  const storage = cancelledSize(claim);
  if (storage === undefined)
    throw refusal('InvalidAction', 'the volume is not being expanded; there is nothing to cancel');
  const { namespace = '', name = '', resourceVersion = '' } = claim.metadata;
  await client.patch(
    resources.persistentVolumeClaims,
    { namespace, name },
    {
      type: 'merge',
      body: { metadata: { resourceVersion }, spec: { resources: { requests: { storage } } } },
      signal: request.signal,
    },
  );
}

async function cloneVolume({ client, request, claim, text }: ActionCall): Promise<void> {
  const { namespace = '' } = claim.metadata;
  await request.authorize({ verb: 'create', group: '', resource: 'persistentvolumeclaims', namespace });
  const clone = clonedClaim(claim, text('name'));
  await client.create(resources.persistentVolumeClaims, clone, { signal: request.signal });
}

async function takeSnapshot({ client, request, claim, text }: ActionCall): Promise<void> {
  const { namespace = '' } = claim.metadata;
  await request.authorize({
    verb: 'create',
    group: 'snapshot.storage.k8s.io',
    resource: 'volumesnapshots',
    namespace,
  });
  const { signal } = request;
  const storageClass = await client.find(
    resources.storageClasses,
    { name: classNameOf(claim) ?? '' },
    signal,
  );
  const provisioner = storageClass?.provisioner ?? storageDriver;
  const setting = await client.find(resources.settings, { name: 'csi-driver-config' }, signal);
  const order = { name: text('name'), provisioner, className: snapshotClassOf(setting, provisioner) };
  await client.create(resources.volumeSnapshots, snapshotOf(claim, order), { signal });
}

function refuseMigration(): Promise<void> {
  throw refusal(
    'InvalidAction',
    'all classes keep their volumes in the same place, so there is nowhere to move data to; clone the volume to give it another name',
  );
}

/** In the words that Harvester's clients know: the code, the status, the message. */
function refusal(code: 'InvalidAction' | 'InvalidBodyContent', message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message: `${code} 422: ${message}` });
}

function failure(error: StatusError): PlainAnswer {
  const isWorded = /^[A-Za-z]+ \d{3}: /.test(error.message);
  return textAnswer(error.code, isWorded ? error.message : `${error.reason} ${error.code}: ${error.message}`);
}

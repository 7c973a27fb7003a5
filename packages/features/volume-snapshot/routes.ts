import {
  emptyAnswer,
  identityOf,
  type PlainAnswer,
  type Route,
  type RouteRequest,
  textAnswer,
} from '@sheaf/api';
import type { PersistentVolumeClaim, VolumeSnapshot } from '@sheaf/api/virtualization/index';
import { StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';

const imageAnnotation = 'harvesterhci.io/imageId';
const classAnnotation = 'harvesterhci.io/storageClassName';

/** Harvester's action on snapshots. */
export function snapshotRoutes(client: Client): readonly Route[] {
  return [
    {
      method: 'POST',
      path: '/v1/harvester/snapshot.storage.k8s.io.volumesnapshots/{namespace}/{name}',
      action: 'restore',
      access: 'authorized',
      async handle(request) {
        await restore(client, request);
        return emptyAnswer(204);
      },
      failure,
    },
  ];
}

async function restore(client: Client, request: RouteRequest): Promise<void> {
  const { namespace = '', name = '' } = request.parameters;
  const group = 'snapshot.storage.k8s.io';
  await request.authorize({ verb: 'get', group, resource: 'volumesnapshots', namespace, name });
  await request.authorize({ verb: 'create', group: '', resource: 'persistentvolumeclaims', namespace });
  const { signal } = request;
  const snapshot = await client.get(resources.volumeSnapshots, { namespace, name }, signal);
  if (snapshot.status?.readyToUse !== true)
    throw refusal('InvalidAction', 'the snapshot is not ready; wait until it is, its status tells what for');
  const { claimName, className } = await readOrder(request);
  const sourceName = snapshot.spec.source.persistentVolumeClaimName ?? '';
  const source = await client.find(resources.persistentVolumeClaims, { namespace, name: sourceName }, signal);
  const claim = restoredClaim(snapshot, { claimName, className, source });
  await client.create(resources.persistentVolumeClaims, claim, { signal });
}

async function readOrder(
  request: RouteRequest,
): Promise<{ readonly claimName: string; readonly className: string }> {
  try {
    const body = (await request.body.json()) ?? {};
    const [claimName, className] = [body['name'], body['storageClassName']];
    if (typeof claimName === 'string' && claimName !== '')
      return { claimName, className: typeof className === 'string' ? className : '' };
  } catch (error) {
    if (!StatusError.is(error, 'BadRequest')) throw error;
    throw refusal(
      'InvalidBodyContent',
      `Failed to decode request body: ${error.message}; send a JSON object`,
    );
  }
  throw refusal('InvalidBodyContent', 'Parameter `name` is required; give the name of the new volume');
}

/** Where the claim that a snapshot was taken of is gone: as disks of virtual machines are. */
const usualSpec: PersistentVolumeClaim['spec'] = { accessModes: ['ReadWriteMany'], volumeMode: 'Block' };

function likeSource(source: PersistentVolumeClaim | undefined): PersistentVolumeClaim['spec'] {
  if (!source) return usualSpec;
  const { accessModes, volumeMode, storageClassName } = source.spec;
  return {
    ...usualSpec,
    ...(accessModes ? { accessModes } : {}),
    ...(volumeMode ? { volumeMode } : {}),
    ...(storageClassName === undefined ? {} : { storageClassName }),
  };
}

/** A claim with the content of a snapshot, otherwise as the one that it was taken of. */
function restoredClaim(
  snapshot: VolumeSnapshot,
  order: {
    readonly claimName: string;
    readonly className: string;
    readonly source: PersistentVolumeClaim | undefined;
  },
): PersistentVolumeClaim {
  const { namespace, name } = identityOf(snapshot);
  const imageId = snapshot.metadata.annotations?.[imageAnnotation];
  const className = order.className || snapshot.metadata.annotations?.[classAnnotation];
  return {
    metadata: {
      name: order.claimName,
      namespace,
      ...(imageId === undefined ? {} : { annotations: { [imageAnnotation]: imageId } }),
    },
    spec: {
      ...likeSource(order.source),
      ...(className ? { storageClassName: className } : {}),
      resources: { requests: { storage: String(snapshot.status?.restoreSize ?? '0') } },
      dataSource: { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name },
    },
  };
}

function refusal(code: 'InvalidAction' | 'InvalidBodyContent', message: string): StatusError {
  return new StatusError({ reason: 'Invalid', message: `${code} 422: ${message}` });
}

function failure(error: StatusError): PlainAnswer {
  const isWorded = /^[A-Za-z]+ \d{3}: /.test(error.message);
  return textAnswer(error.code, isWorded ? error.message : `${error.reason} ${error.code}: ${error.message}`);
}

import { asJson } from '@sheaf/api';
import { isJsonObject, type JsonValue } from '@sheaf/base';
import type { TableColumns } from './columns.ts';
import { ageOf } from './name-and-age.ts';

/** `kubectl get --subresource=scale` */
export const scaleColumns: TableColumns = {
  definitions: [
    {
      name: 'Name',
      type: 'string',
      format: 'name',
      description: 'Name must be unique within a namespace.',
      priority: 0,
    },
    { name: 'Desired', type: 'integer', format: '', description: 'Number of desired pods.', priority: 0 },
    {
      name: 'Available',
      type: 'integer',
      format: '',
      description: 'Number of pods that are there.',
      priority: 0,
    },
    {
      name: 'Age',
      type: 'string',
      format: '',
      description: 'How long ago the object was created.',
      priority: 0,
    },
  ],
  cells(object, now) {
    const { spec, status } = asJson(object);
    return [
      object.metadata.name ?? '',
      replicasOf(spec),
      replicasOf(status),
      ageOf(object.metadata.creationTimestamp, now),
    ];
  },
};

function replicasOf(part: JsonValue | undefined): number {
  const replicas = isJsonObject(part) ? part['replicas'] : undefined;
  return typeof replicas === 'number' ? replicas : 0;
}

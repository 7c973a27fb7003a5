import type { StatusCause } from '@sheaf/base';
import type { ContainerDiskSource } from '../instance-spec.ts';
import { cause } from './cause.ts';

/** What is wrong with a disk in a container image, in KubeVirt's words. */
export function containerDiskCauses(
  source: ContainerDiskSource | undefined,
  field: string,
): readonly StatusCause[] {
  if (!source) return [];
  const { image = '', path = '' } = source;
  return [...imageCauses(image, `${field}.image`), ...pathCauses(path, `${field}.path`)];
}

function imageCauses(image: string, field: string): readonly StatusCause[] {
  if (image !== '') return [];
  const text = `${field} is a required field`;
  return [cause(field, text, { wayOut: 'name the container image', reason: 'FieldValueRequired' })];
}

function pathCauses(path: string, field: string): readonly StatusCause[] {
  if (path === '') return [];
  const isAbsolute = path.startsWith('/') && !path.split('/').some((word) => word === '.' || word === '..');
  if (!isAbsolute)
    return [
      cause(field, `${field} must be an absolute path to a file without relative elements`, {
        wayOut: 'write it like /disk/disk.img',
      }),
    ];
  if (!path.endsWith('/')) return [];
  return [cause(field, `${field} must not point to root, or to a folder`, { wayOut: 'name the file' })];
}

import type { DataVolume } from '@sheaf/api/virtualization/index';
import { bytesOf } from './claim-of-data-volume.ts';

/** What the source of a data volume asks of this feature. Other sources are the affair of its claim alone. */
export type SourceOrder =
  | { readonly kind: 'none' }
  | { readonly kind: 'upload'; readonly maxBytes: number }
  | {
      readonly kind: 'registry';
      /** Without its scheme. */
      readonly reference: string;
      readonly secret: string | undefined;
      readonly authorities: string | undefined;
      readonly maxBytes: number;
    }
  | {
      readonly kind: 'download';
      readonly url: string;
      readonly authorities: string | undefined;
      readonly maxBytes: number;
    };

/** Without a size that is asked for. */
const largestImageBytes = 8 * 1024 ** 4;
/** What a file may have beyond the disk in it. */
const fileOverheadBytes = 64 * 1024 ** 2;

export function sourceOrderOf({ spec }: DataVolume): SourceOrder {
  const { source = {} } = spec;
  const asked = bytesOf((spec.pvc ?? spec.storage)?.resources?.requests?.['storage']);
  const maxBytes = asked === 0 ? largestImageBytes : Math.ceil(asked * 1.01) + fileOverheadBytes;
  if (source.upload) return { kind: 'upload', maxBytes };
  if (source.registry) return registryOrder(source.registry, maxBytes);
  if (!source.http) return { kind: 'none' };
  return { kind: 'download', url: source.http.url, authorities: source.http.certConfigMap, maxBytes };
}

const registryScheme = 'docker://';

function registryOrder(
  { url = '', secretRef, certConfigMap }: NonNullable<Source['registry']>,
  maxBytes: number,
): SourceOrder {
  const reference = url.startsWith(registryScheme) ? url.slice(registryScheme.length) : url;
  return { kind: 'registry', reference, secret: secretRef, authorities: certConfigMap, maxBytes };
}

const elsewhere: Readonly<Record<string, string>> = {
  s3: 'S3 buckets',
  gcs: 'Google Cloud Storage',
  imageio: 'oVirt',
  vddk: 'VMware',
};

export interface SourceProblem {
  readonly field: string;
  readonly text: string;
  readonly wayOut: string;
}

/** Why a data volume cannot be had. */
export function problemOf({ spec }: DataVolume): SourceProblem | undefined {
  const { source = {}, sourceRef, contentType, checkpoints = [], pvc, storage } = spec;
  if ((pvc === undefined) === (storage === undefined))
    return problem('spec', 'it needs one of spec.pvc and spec.storage', 'describe its claim in spec.storage');
  if (contentType === 'archive')
    return problem('spec.contentType', 'archives are not unpacked', 'make a disk image of the content');
  if (checkpoints.length > 0)
    return problem('spec.checkpoints', 'imports in stages are not available', 'leave spec.checkpoints out');
  if (sourceRef)
    return problem(
      'spec.sourceRef',
      'DataSources are not followed',
      'name the claim or snapshot in spec.source',
    );
  return sourceProblem(source, hasDataSource(spec)) ?? sizeProblem(spec);
}

/** How much may be sent follows from the size. */
function sizeProblem({ source, pvc, storage }: DataVolume['spec']): SourceProblem | undefined {
  const asked = (pvc ?? storage)?.resources?.requests?.['storage'];
  if (!source?.upload || bytesOf(asked) > 0) return undefined;
  return problem(
    `spec.${pvc ? 'pvc' : 'storage'}.resources.requests.storage`,
    'what is uploaded needs a size',
    'ask for the size of the disk, or more',
  );
}

function hasDataSource({ pvc, storage }: DataVolume['spec']): boolean {
  const wanted = pvc ?? storage;
  return (wanted?.dataSource ?? wanted?.dataSourceRef) !== undefined;
}

type Source = NonNullable<DataVolume['spec']['source']>;

function sourceProblem(source: Source, isElsewhere: boolean): SourceProblem | undefined {
  const given = Object.entries(source).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0 && isElsewhere) return undefined;
  if (given.length !== 1)
    return problem('spec.source', 'it needs exactly one source', 'name where its content comes from, once');
  const [name = ''] = given[0] ?? [];
  const place = elsewhere[name];
  if (place !== undefined)
    return problem(
      `spec.source.${name}`,
      `content of ${place} is not fetched`,
      'put the disk image on a web server and use spec.source.http, or upload it',
    );
  return source.registry ? registryProblem(source.registry) : httpProblem(source.http ?? {});
}

function registryProblem({ url, imageStream }: NonNullable<Source['registry']>): SourceProblem | undefined {
  if (imageStream)
    return problem('spec.source.registry.imageStream', 'there are no image streams', 'name the image in url');
  if (url?.startsWith(registryScheme)) return undefined;
  return problem(
    'spec.source.registry.url',
    'only registries can be asked for container images',
    `write it like ${registryScheme}quay.io/containerdisks/fedora:43`,
  );
}

function httpProblem({
  secretRef,
  extraHeaders,
  secretExtraHeaders,
}: Partial<NonNullable<Source['http']>>): SourceProblem | undefined {
  if (secretRef || secretExtraHeaders || extraHeaders)
    return problem(
      'spec.source.http',
      'downloads with credentials or headers of their own are not available',
      'use an address that needs none, or upload the image',
    );
  return undefined;
}

function problem(field: string, text: string, wayOut: string): SourceProblem {
  return { field, text, wayOut };
}

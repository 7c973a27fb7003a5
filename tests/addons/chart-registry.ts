import { createHash } from 'node:crypto';
import type { Answer, Served } from './chart-server.ts';

interface Content {
  readonly type: string;
  readonly body: Buffer;
}

interface Asked {
  readonly method: string;
  readonly repository: string;
  /** A digest, a tag, or the place of an upload. */
  readonly reference: string;
  /** Of what is uploaded. */
  readonly digest: string;
  readonly content: Content;
}

/** A registry that keeps what is pushed to it, as far as the distribution protocol goes for charts. */
export function registry(): Answer {
  const blobs = new Map<string, Content>();
  /** By digest and by tag. */
  const manifests = new Map<string, Content>();
  return ({ method = 'GET', url = '', headers }, body) => {
    const { pathname, searchParams } = new URL(url, 'http://registry');
    const [, repository = '', kind, reference = ''] =
      /^\/v2\/(.+)\/(blobs|manifests|tags)\/(.+)$/.exec(pathname) ?? [];
    const content = { type: headers['content-type'] ?? 'application/octet-stream', body };
    const asked = { method, repository, reference, content, digest: searchParams.get('digest') ?? '' };
    if (kind === 'blobs') return blobAnswer(blobs, asked);
    if (kind === 'manifests') return manifestAnswer(manifests, asked);
    return { body: JSON.stringify({ name: repository, tags: tagsOf(manifests) }) };
  };
}

function blobAnswer(
  blobs: Map<string, Content>,
  { method, repository, reference, digest, content }: Asked,
): Served {
  if (method === 'POST') return { status: 202, headers: { location: `/v2/${repository}/blobs/uploads/one` } };
  if (method !== 'PUT') return found(blobs.get(reference));
  blobs.set(digest, content);
  return { status: 201, headers: { 'docker-content-digest': digest } };
}

function manifestAnswer(manifests: Map<string, Content>, { method, reference, content }: Asked): Served {
  if (method !== 'PUT') return found(manifests.get(reference));
  const digest = digestOf(content.body);
  for (const key of [reference, digest]) manifests.set(key, content);
  return { status: 201, headers: { 'docker-content-digest': digest } };
}

function tagsOf(manifests: ReadonlyMap<string, Content>): readonly string[] {
  return [...manifests.keys()].filter((key) => !key.startsWith('sha256:'));
}

function digestOf(body: Uint8Array): string {
  return `sha256:${createHash('sha256').update(body).digest('hex')}`;
}

function found(content: Content | undefined): Served {
  if (!content) return { status: 404, body: '{"errors":[{"code":"NAME_UNKNOWN"}]}' };
  const { type, body } = content;
  return {
    headers: {
      'content-type': type,
      'content-length': String(body.length),
      'docker-content-digest': digestOf(body),
    },
    body,
  };
}

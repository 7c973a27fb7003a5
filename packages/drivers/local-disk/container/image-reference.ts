import { SourceFault } from '../http-source.ts';

/** A name as `docker pull` takes it, in its parts. */
export interface ImageReference {
  /** With the registry. */
  readonly repository: string;
  readonly tag: string | undefined;
  readonly digest: string | undefined;
}

const pattern =
  /^((?:[a-zA-Z0-9][a-zA-Z0-9.-]*(?::\d{1,5})?\/)?[a-z0-9]+(?:(?:[._]|__|-+|\/)[a-z0-9]+)*)(?::([\w][\w.-]{0,127}))?(?:@(sha256:[0-9a-f]{64}))?$/;

/** @throws SourceFault when it is none: such words never reach a program */
export function readReference(text: string): ImageReference {
  const match = text.length <= 512 ? pattern.exec(text) : null;
  const [, repository, tag, digest] = match ?? [];
  if (repository === undefined)
    throw new SourceFault(
      `${JSON.stringify(text.slice(0, 512))} is no name of a container image; write it like quay.io/containerdisks/fedora:43`,
    );
  return { repository, tag, digest };
}

/** As skopeo takes it: with a digest a tag says nothing more. */
export function sourceOf({ repository, tag, digest }: ImageReference): string {
  return `docker://${repository}${digest === undefined ? `:${tag ?? 'latest'}` : `@${digest}`}`;
}

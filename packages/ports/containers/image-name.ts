const host = '[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::[0-9]+)?|\\[[0-9a-f:]+\\](?::[0-9]+)?';
const part = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const pattern = new RegExp(
  `^(?:(?<first>${host})/)?(?<rest>${part}(?:/${part})*)(?::(?<tag>[A-Za-z0-9_][\\w.-]{0,127}))?(?:@(?<digest>sha256:[0-9a-f]{64}))?$`,
);

export interface ImageName {
  /** With registry, and with a tag or a digest: `docker.io/library/nginx:latest`. */
  readonly reference: string;
  readonly registry: string;
  readonly tag: string | undefined;
  /** How an image store knows it: a digest says everything, so that a tag beside it is left out. */
  readonly stored: string;
}

/** The name of an image as registries know it; `undefined` for what is none. Without a registry it is Docker Hub's. */
export function readImageName(text: string): ImageName | undefined {
  const groups = pattern.exec(text)?.groups;
  if (!groups) return undefined;
  const { first, rest = '', digest } = groups;
  const tag = groups['tag'] ?? (digest === undefined ? 'latest' : undefined);
  const { registry, repository } = placeOf(first, rest);
  const version = (tag === undefined ? '' : `:${tag}`) + (digest === undefined ? '' : `@${digest}`);
  const place = `${registry}/${repository}`;
  const stored = digest === undefined ? `${place}${version}` : `${place}@${digest}`;
  return { registry, tag, reference: `${place}${version}`, stored };
}

/** A first part with a dot or a port is a registry; any other one belongs to the name. */
function placeOf(
  first: string | undefined,
  rest: string,
): { readonly registry: string; readonly repository: string } {
  if (first !== undefined && (/[.:]/.test(first) || first === 'localhost'))
    return { registry: first, repository: rest };
  const repository = first === undefined ? `library/${rest}` : `${first}/${rest}`;
  return { registry: 'docker.io', repository: rest.includes('/') && first === undefined ? rest : repository };
}

const separator = '(?:[._]|__|-+)';
const component = `[a-z0-9]+(?:${separator}[a-z0-9]+)*`;
const domainLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const domain = `(?:${domainLabel}(?:\\.${domainLabel})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?/`;
const reference = new RegExp(
  `^(?:${domain})?${component}(?:/${component})*(?::([\\w][\\w.-]{0,127}))?(@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`,
);
/** Longer references are no images; their grammar is not worth running. */
const maxReferenceLength = 512;

/** `Always` for images whose tag is or defaults to `latest`, else `IfNotPresent`. */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  const match = image.length > maxReferenceLength ? null : reference.exec(image);
  if (match === null) return 'IfNotPresent';
  const tag = match[1] ?? (match[2] === undefined ? 'latest' : '');
  return tag === 'latest' ? 'Always' : 'IfNotPresent';
}

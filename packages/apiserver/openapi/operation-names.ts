/** `rbac.authorization.k8s.io/v1` is `RbacAuthorizationV1` in operation ids. */
export function groupVersionWord(group: string, version: string): string {
  return capitalized(groupWord(group)) + capitalized(version);
}

/** `rbac.authorization.k8s.io/v1` is `rbacAuthorization_v1` as a tag. */
export function groupVersionTag(group: string, version: string): string {
  return `${groupWord(group)}_${version}`;
}

export function capitalized(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

function groupWord(group: string): string {
  if (group === '') return 'core';
  const words = group.replace(/\.k8s\.io$/, '').split(/[.-]/);
  return words.map((word, index) => (index === 0 ? word : capitalized(word))).join('');
}

/** Where the resources of a group version are, e.g. `/apis/apps/v1`. */
export function groupVersionRoot(group: string, version: string): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** `a Pod`, `an Ingress`; kinds in the plural have no article. */
export function withArticle(kind: string): string {
  if (/[^s]s$/.test(kind)) return kind;
  return /^[AEIOU]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

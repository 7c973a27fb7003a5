/** `NAMESPACE/NAME`, as the kinds of `harvesterhci.io` refer to each other. */
export interface Reference {
  readonly namespace: string;
  readonly name: string;
}

/** `undefined` for what is no reference. */
export function parseReference(text: unknown): Reference | undefined {
  const [namespace = '', name = '', ...rest] = typeof text === 'string' ? text.split('/') : [];
  return namespace !== '' && name !== '' && rest.length === 0 ? { namespace, name } : undefined;
}

export function referenceTo({ metadata }: { readonly metadata: Partial<Reference> }): string {
  return `${metadata.namespace ?? ''}/${metadata.name ?? ''}`;
}

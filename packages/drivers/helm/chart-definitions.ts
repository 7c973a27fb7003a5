import type { HelmSession } from './helm-session.ts';

interface Document {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
}

/** Names of the definitions that a chart and its parts bring beside their release. @throws HelmError */
export async function definitionsIn(helm: HelmSession, archive: string): Promise<readonly string[]> {
  const text = await helm.call(['show', 'crds', archive], {
    phase: 'fetch',
    isQuestion: true,
    isPatient: true,
  });
  return definitionNames(text);
}

/** In the order of the text; documents of other kinds, and such that cannot be read, have none. */
export async function definitionNames(documents: string): Promise<readonly string[]> {
  // Most charts have none, and an operation is not to wait for a parser.
  if (documents.trim() === '') return [];
  const { parseAllDocuments } = await import('yaml');
  return parseAllDocuments(documents).flatMap((document) => {
    const { kind, metadata } = (document.toJS() ?? {}) as Document;
    return kind === 'CustomResourceDefinition' && metadata?.name !== undefined ? [metadata.name] : [];
  });
}

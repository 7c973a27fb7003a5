import { parseAllDocuments } from 'yaml';
import type { HelmSession } from './helm-session.ts';

interface Document {
  readonly kind?: string;
  readonly metadata?: { readonly name?: string };
}

/** Names of the definitions that a chart and its parts bring beside their release. @throws HelmError */
export async function definitionsIn(helm: HelmSession, archive: string): Promise<readonly string[]> {
  const text = await helm.call(['show', 'crds', archive], { phase: 'fetch', isQuestion: true });
  return definitionNames(text);
}

/** In the order of the text; documents of other kinds, and such that cannot be read, have none. */
export function definitionNames(documents: string): readonly string[] {
  return parseAllDocuments(documents).flatMap((document) => {
    const { kind, metadata } = (document.toJS() ?? {}) as Document;
    return kind === 'CustomResourceDefinition' && metadata?.name !== undefined ? [metadata.name] : [];
  });
}

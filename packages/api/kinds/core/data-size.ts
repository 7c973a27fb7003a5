import type { JsonObject } from '@sheaf/base';
import { fieldsAt } from '../fields.ts';

/** A map of base64 texts; null, which Go keeps as no bytes, reads as an empty text. */
export function bytesAt(parent: JsonObject, name: string): Readonly<Record<string, string>> {
  const texts: [string, string][] = [];
  for (const [key, value] of Object.entries(fieldsAt(parent, name)))
    texts.push([key, typeof value === 'string' ? value : '']);
  return Object.fromEntries(texts);
}

/** Bytes that canonical base64 stands for. */
export function base64Size(text: string): number {
  const padding = text.endsWith('==') ? 2 : Number(text.endsWith('='));
  return (text.length / 4) * 3 - padding;
}

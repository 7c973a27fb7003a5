import { createHash } from 'node:crypto';
import { badRequest, isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { BundledChart, BundledImage, BundledProgram, BundleIndex } from '@sheaf/ports';

/** The first file of a bundle. */
export const indexName = 'bundle.json';
export const indexLimitBytes = 16 * 2 ** 20;

type Part = BundleIndex['parts'][number];

const mostParts = 100_000;
const digestPattern = /^sha256:[0-9a-f]{64}$/;
const namePattern = /^[A-Za-z0-9][\w.-]{0,127}$/;
const versionPattern = /^[\w.+-]{1,128}$/;
const referencePattern = /^[a-z0-9][\w./:@+-]{0,511}$/;
const longestText = 2048;

/** How an index is written: the same content gives the same bytes. */
export function indexText(index: BundleIndex): string {
  return `${JSON.stringify(index, undefined, 1)}\n`;
}

/** What tells one content from another. */
export function bundleId(index: BundleIndex): string {
  return createHash('sha256').update(indexText(index)).digest('hex').slice(0, 16);
}

/** The name of its file in `blobs/sha256`. */
export function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

/**
 * Everything in it becomes a file name, an argument or a text for people: nothing is taken that is not of the expected form, and
 * nothing is named that is no part. @throws StatusError BadRequest
 */
export function readIndex(text: string): BundleIndex {
  const value = parsed(text);
  if (value['formatVersion'] !== 1)
    throw refused(
      `its format has the version ${JSON.stringify(value['formatVersion'] ?? null)}, and this Sheaf knows 1; make it again with a Sheaf of the same release`,
    );
  const index: BundleIndex = {
    formatVersion: 1,
    platform: textOf(value, 'platform', /^[a-z0-9]+\/[a-z0-9]+$/),
    purposes: stringsOf(value, 'purposes', /^[^\n]{1,300}$/),
    charts: listOf(value, 'charts').map(chartOf),
    images: listOf(value, 'images').map(imageOf),
    programs: listOf(value, 'programs').map(programOf),
    parts: listOf(value, 'parts').map(partOf),
  };
  checkParts(index);
  return index;
}

function parsed(text: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw refused(`${indexName} is no JSON`, error);
  }
  if (isJsonObject(value)) return value;
  throw refused(`${indexName} holds no object`);
}

function chartOf(value: JsonObject): BundledChart {
  const repo = textOf(value, 'repo', /^[^\s]*$/);
  return {
    repo,
    chart: textOf(value, 'chart', repo === '' ? /^[^\s]+$/ : namePattern),
    version: textOf(value, 'version', versionPattern),
    digest: textOf(value, 'digest', digestPattern),
  };
}

function imageOf(value: JsonObject): BundledImage {
  return {
    reference: textOf(value, 'reference', referencePattern),
    digest: textOf(value, 'digest', digestPattern),
    mediaType: textOf(value, 'mediaType', /^application\/[\w.+-]+$/),
    parts: stringsOf(value, 'parts', digestPattern),
  };
}

function programOf(value: JsonObject): BundledProgram {
  if (value['name'] !== 'helm')
    throw refused(`it holds the program ${JSON.stringify(value['name'] ?? null)}, which Sheaf does not use`);
  return {
    name: 'helm',
    version: textOf(value, 'version', versionPattern),
    digest: textOf(value, 'digest', digestPattern),
  };
}

function partOf(value: JsonObject): Part {
  const { bytes } = value;
  if (typeof bytes !== 'number' || !Number.isSafeInteger(bytes) || bytes < 0)
    throw refused(`a part of it has the size ${JSON.stringify(bytes ?? null)}`);
  return { digest: textOf(value, 'digest', digestPattern), bytes };
}

function checkParts({ charts, images, programs, parts }: BundleIndex): void {
  if (parts.length > mostParts) throw refused(`it has more than ${mostParts} parts`);
  const known = new Set(parts.map(({ digest }) => digest));
  if (known.size < parts.length) throw refused('it names a part twice');
  const named = [
    ...charts.map(({ digest }) => digest),
    ...programs.map(({ digest }) => digest),
    ...images.flatMap((image) => [image.digest, ...image.parts]),
  ];
  const unknown = named.find((digest) => !known.has(digest));
  if (unknown !== undefined) throw refused(`it names ${unknown}, which is no part of it`);
}

function listOf(value: JsonObject, field: string): readonly JsonObject[] {
  const list = value[field];
  if (Array.isArray(list) && list.every((item) => isJsonObject(item))) return list;
  throw refused(`${field} is no list of objects`);
}

function stringsOf(value: JsonObject, field: string, pattern: RegExp): readonly string[] {
  const list = value[field];
  if (!Array.isArray(list)) throw refused(`${field} is no list`);
  return list.map((text) => checked(text, field, pattern));
}

function textOf(value: JsonObject, field: string, pattern: RegExp): string {
  return checked(value[field], field, pattern);
}

function checked(text: JsonValue | undefined, field: string, pattern: RegExp): string {
  if (typeof text === 'string' && text.length <= longestText && pattern.test(text)) return text;
  throw refused(`${field} is ${JSON.stringify(text ?? null).slice(0, 200)}`);
}

/** With the way out. */
export function refused(why: string, cause?: unknown): Error {
  return badRequest(
    `this is no bundle that can be loaded: ${why}; make one with: sheaf bundle create FILE`,
    cause,
  );
}

/** One media range of an Accept header, e.g. `application/json;as=Table;v=v1;g=meta.k8s.io`. */
export interface MediaRange {
  /** Lower case, without parameters. */
  readonly type: string;
  readonly parameters: ReadonlyMap<string, string>;
  readonly quality: number;
}

const rangeLimit = 64;

/** Reads an Accept header, best first. Malformed ranges are left out. An absent or empty header means anything. */
export function parseAccept(header: string | undefined): readonly MediaRange[] {
  if (header === undefined || header.trim() === '')
    return [{ type: '*/*', parameters: new Map(), quality: 1 }];
  const ranges = header.split(',', rangeLimit).flatMap((text) => parseMediaType(text) ?? []);
  return ranges
    .map((range) => ({ ...range, quality: qualityOf(range) }))
    .sort((a, b) => b.quality - a.quality);
}

export function parseMediaType(text: string): MediaRange | undefined {
  const [type = '', ...pairs] = text.split(';');
  const name = type.trim().toLowerCase();
  if (!name.includes('/')) return undefined;
  const parameters = new Map<string, string>();
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    if (equals > 0)
      parameters.set(pair.slice(0, equals).trim().toLowerCase(), unquote(pair.slice(equals + 1).trim()));
  }
  return { type: name, parameters, quality: 1 };
}

function unquote(value: string): string {
  return value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value;
}

function qualityOf(range: MediaRange): number {
  const quality = Number(range.parameters.get('q') ?? '1');
  return Number.isFinite(quality) ? quality : 1;
}

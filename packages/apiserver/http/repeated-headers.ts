type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** Headers whose repetitions are values of their own: a group's name may hold a comma. */
const repeatable = /^(impersonate-|x-remote-)/;

/** Node joins repeated headers with commas; where that would lose something they are taken apart again. */
export function withRepeatedHeaders(headers: Headers, raw: readonly string[]): Headers {
  let result: Record<string, string | string[] | undefined> | undefined;
  for (const name in headers) {
    if (!repeatable.test(name)) continue;
    result ??= { ...headers };
    result[name] = valuesOf(name, raw);
  }
  return result ?? headers;
}

function valuesOf(name: string, raw: readonly string[]): string[] {
  const values: string[] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) {
    if (raw[index]?.toLowerCase() === name) values.push(raw[index + 1] ?? '');
  }
  return values;
}

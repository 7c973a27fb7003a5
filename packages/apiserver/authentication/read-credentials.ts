import type { Credentials } from './user.ts';

type Headers = Credentials['headers'];

const webSocketTokenPrefix = 'base64url.bearer.authorization.k8s.io.';

/** Gathers what authenticators look at. Header names are in lower case; repeated headers must come as lists. */
export function readCredentials(headers: Headers, clientCertificate: Uint8Array | undefined): Credentials {
  return { bearerToken: readBearerToken(headers), clientCertificate, headers };
}

/** All values of a header. */
export function headerValues(headers: Headers, name: string): readonly string[] {
  const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function readBearerToken(headers: Headers): string | undefined {
  const [authorization = ''] = headerValues(headers, 'authorization');
  const match = /^bearer[ ]+(\S+)[ ]*$/i.exec(authorization.trim());
  return match?.[1] ?? readWebSocketToken(headers);
}

/** Browsers cannot set headers on WebSockets; the token comes as a subprotocol then. */
function readWebSocketToken(headers: Headers): string | undefined {
  const [upgrade = ''] = headerValues(headers, 'upgrade');
  if (upgrade.toLowerCase() !== 'websocket') return undefined;
  const protocols = headerValues(headers, 'sec-websocket-protocol').flatMap((value) => value.split(','));
  const protocol = protocols.map((item) => item.trim()).find((item) => item.startsWith(webSocketTokenPrefix));
  if (protocol === undefined) return undefined;
  const encoded = protocol.slice(webSocketTokenPrefix.length);
  const token = /^[A-Za-z0-9_-]+$/.test(encoded) ? Buffer.from(encoded, 'base64url').toString('utf8') : '';
  return token === '' ? undefined : token;
}

/** The key of `X-Remote-Extra-<key>` and `Impersonate-Extra-<key>`: lower case, percent-encoded. */
export function readExtraKey(encoded: string): string {
  const lower = encoded.toLowerCase();
  try {
    return decodeURIComponent(lower);
  } catch {
    // Kept as it came, as upstream does: a malformed key must not hide the value.
    return lower;
  }
}

/** Headers with that prefix as key → values; keys cannot reach object prototypes. */
export function extraHeaders(headers: Headers, prefix: string): Record<string, string[]> | undefined {
  const extra = Object.create(null) as Record<string, string[]>;
  let isEmpty = true;
  for (const name of Object.keys(headers)) {
    if (!name.startsWith(prefix)) continue;
    const key = readExtraKey(name.slice(prefix.length));
    extra[key] = [...(extra[key] ?? []), ...headerValues(headers, name)];
    isEmpty = false;
  }
  return isEmpty ? undefined : extra;
}

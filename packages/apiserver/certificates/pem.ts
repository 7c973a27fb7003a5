/** PEM text (RFC 7468) of one DER value, with line breaks every 64 characters. */
export function toPem(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** All DER values of that label, in order; text around the blocks is ignored. Malformed blocks are left out. */
export function fromPem(label: string, pem: string): Buffer[] {
  const begin = `-----BEGIN ${label}-----`;
  const end = `-----END ${label}-----`;
  const values: Buffer[] = [];
  for (let from = pem.indexOf(begin); from >= 0; from = pem.indexOf(begin, from)) {
    const to = pem.indexOf(end, from);
    if (to < 0) break;
    const body = pem.slice(from + begin.length, to).replace(/\s+/g, '');
    if (/^[A-Za-z0-9+/]+={0,2}$/.test(body)) values.push(Buffer.from(body, 'base64'));
    from = to + end.length;
  }
  return values;
}

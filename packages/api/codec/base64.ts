const plain = /^[A-Za-z0-9+/]*={0,2}$/;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Standard base64 as Go reads it: padding required, line breaks skipped. Canonical text, or undefined if malformed. */
export function canonicalBase64(text: string): string | undefined {
  const compact = text.includes('\n') || text.includes('\r') ? text.replace(/[\r\n]/g, '') : text;
  if (compact.length % 4 !== 0 || !plain.test(compact)) return undefined;
  if (!compact.endsWith('=')) return compact;
  return withoutStrayBits(compact);
}

/** The bits of the last character that no byte holds are dropped, as decoding and encoding again would do. */
function withoutStrayBits(text: string): string {
  const padding = text.endsWith('==') ? 2 : 1;
  const last = text.length - padding - 1;
  const value = alphabet.indexOf(text.charAt(last));
  const kept = padding === 2 ? value & 0b110000 : value & 0b111100;
  if (kept === value) return text;
  return text.slice(0, last) + alphabet.charAt(kept) + '='.repeat(padding);
}

/** Where Go says that malformed base64 breaks. */
export function base64FaultOffset(text: string): number {
  let digits = 0;
  for (let index = 0; index < text.length; index++) {
    const char = text.charAt(index);
    if (char === '\n' || char === '\r') continue;
    if (char === '=') return paddingFault(text, index, digits);
    if (!alphabet.includes(char)) return index;
    digits = (digits + 1) % 4;
  }
  return text.length - digits;
}

function paddingFault(text: string, index: number, digits: number): number {
  if (digits < 2) return index;
  const rest = text.slice(index + 1).replace(/[\r\n]/g, '');
  if (digits === 3) return index + 1;
  return rest.startsWith('=') ? index + 2 : index + 1;
}

const textLimit = 256;
const totalLimit = 4096;
const noTexts: readonly string[] = [];

/** Collects texts for `Warning: 299` headers, without repetition. All are cut once together they are too long (bytes as characters). */
export class Warnings {
  /** Most requests have none. */
  #texts: Set<string> | undefined;

  add(text: string): void {
    this.#texts ??= new Set();
    // More than these can only be dropped again.
    if (this.#texts.size < totalLimit) this.#texts.add(text);
  }

  /** What has been said so far. */
  mark(): number {
    return this.#texts?.size ?? 0;
  }

  /** Takes back what was said after a mark. */
  returnTo(mark: number): void {
    if (this.#texts && this.#texts.size > mark) this.#texts = new Set([...this.#texts].slice(0, mark));
  }

  /** Header values, ready to send. */
  headers(): readonly string[] {
    if (!this.#texts) return noTexts;
    return withinLimit([...this.#texts]).map((text) => `299 - "${escapeQuoted(text)}"`);
  }
}

function withinLimit(texts: readonly string[]): readonly string[] {
  if (texts.reduce((sum, text) => sum + text.length, 0) <= totalLimit) return texts;
  const kept: string[] = [];
  let left = totalLimit;
  for (const text of texts) {
    const cut = text.slice(0, textLimit);
    if (cut.length > left) break;
    kept.push(cut);
    left -= cut.length;
  }
  return kept;
}

function escapeQuoted(text: string): string {
  let escaped = '';
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    if (code < 0x20 || code === 0x7f) escaped += ' ';
    else if (char === '"' || char === '\\') escaped += `\\${char}`;
    // Header values are bytes; a text's are those of its UTF-8.
    else escaped += code > 0x7f ? Buffer.from(char, 'utf8').toString('latin1') : char;
  }
  return escaped;
}

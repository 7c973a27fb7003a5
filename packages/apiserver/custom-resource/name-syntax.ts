/** Rules of names, each with the sentences that are shown when a text breaks it. An empty list: the text is fine. */

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const subdomain1123 = `${label1123}(\\.${label1123})*`;
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

const isLabel1035 = new RegExp(`^${label1035}$`);
const isLabel1123 = new RegExp(`^${label1123}$`);
const isQualified = new RegExp(`^${qualified}$`);
const labelValuePattern = `(${qualified})?`;

function withExamples(sentence: string, pattern: string, examples: readonly string[]): string {
  const list = examples.map((example) => `'${example}', `).join(' or ');
  return `${sentence} (e.g. ${list}regex used for validation is '${pattern}')`;
}

function tooLong(text: string, limit: number): readonly string[] {
  return Buffer.byteLength(text) > limit ? [`must be no more than ${limit} bytes`] : [];
}

export function dns1035LabelFaults(text: string): readonly string[] {
  const faults = [...tooLong(text, 63)];
  if (text.length > 1000 || !isLabel1035.test(text)) {
    faults.push(
      withExamples(
        "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
        label1035,
        ['my-name', 'abc-123'],
      ),
    );
  }
  return faults;
}

export function dns1123LabelFaults(text: string): readonly string[] {
  const faults = [...tooLong(text, 63)];
  if (isLabel(text)) return faults;
  if (isSubdomain(text)) return [...faults, 'must not contain dots'];
  const sentence =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character";
  return [...faults, withExamples(sentence, label1123, ['my-name', '123-abc'])];
}

function isLabel(text: string): boolean {
  return text.length <= 1000 && isLabel1123.test(text);
}

function isSubdomain(text: string): boolean {
  return text.length <= 1000 && text.split('.').every(isLabel);
}

export function dns1123SubdomainFaults(text: string): readonly string[] {
  const faults = [...tooLong(text, 253)];
  if (!isSubdomain(text)) {
    faults.push(
      withExamples(
        "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
        subdomain1123,
        ['example.com'],
      ),
    );
  }
  return faults;
}

const qualifiedSentence =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character";
const qualifiedExamples = ['MyName', 'my.name', '123-abc'];

/** Keys of labels and annotations, and finalizers: `[prefix/]name`. */
export function qualifiedNameFaults(text: string): readonly string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    const sentence = withExamples(`a valid label key ${qualifiedSentence}`, qualified, qualifiedExamples);
    return [`${sentence} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const name = parts.at(-1) ?? '';
  const faults: string[] = [];
  if (parts.length === 2) faults.push(...prefixFaults(parts[0] ?? ''));
  if (name === '') faults.push('name part must be non-empty');
  else faults.push(...tooLong(name, 63).map((fault) => `name part ${fault}`));
  if (!isQualified.test(name)) {
    faults.push(`name part ${withExamples(qualifiedSentence, qualified, qualifiedExamples)}`);
  }
  return faults;
}

function prefixFaults(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return dns1123SubdomainFaults(prefix).map((fault) => `prefix part ${fault}`);
}

export function labelValueFaults(text: string): readonly string[] {
  const faults = [...tooLong(text, 63)];
  if (text !== '' && !isQualified.test(text)) {
    faults.push(
      withExamples(
        `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`,
        labelValuePattern,
        ['MyValue', 'my_value', '12345'],
      ),
    );
  }
  return faults;
}

/** Names that are one segment of a URL path. */
export function pathSegmentFaults(text: string): readonly string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return ['/', '%'].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
}

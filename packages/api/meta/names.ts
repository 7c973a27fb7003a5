/**
 * Syntax of names. Each check returns what is wrong, in the API server's words; nothing where the text is right.
 * Lengths count UTF-8 bytes.
 */

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const subdomain = `${label}(\\.${label})*`;
const service = '[a-z]([-a-z0-9]*[a-z0-9])?';
const wildcard = `\\*\\.${subdomain}`;
const labelKey = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';
const labelValue = `(${labelKey})?`;
const configKey = '[-._a-zA-Z0-9]+';

interface Rule {
  readonly pattern: RegExp;
  readonly text: string;
}

function rule(expression: string, message: string, examples: readonly string[]): Rule {
  const shown = examples.map((example) => `'${example}', `).join(' or ');
  const text = `${message} (e.g. ${shown}regex used for validation is '${expression}')`;
  return { pattern: new RegExp(`^${expression}$`), text };
}

const labelRule = rule(
  label,
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  ['my-name', '123-abc'],
);
const subdomainRule = rule(
  subdomain,
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  ['example.com'],
);
const serviceRule = rule(
  service,
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  ['my-name', 'abc-123'],
);
const wildcardRule = rule(
  wildcard,
  "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character",
  ['*.example.com'],
);
const labelKeyRule = rule(
  labelKey,
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyName', 'my.name', '123-abc'],
);
const labelValueRule = rule(
  labelValue,
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  ['MyValue', 'my_value', '12345'],
);
const configKeyRule = rule(
  configKey,
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.'",
  ['key.name', 'KEY_NAME', 'key-name'],
);

export const maxLabelLength = 63;
export const maxSubdomainLength = 253;

const encoder = new TextEncoder();

function isLonger(text: string, maxBytes: number): boolean {
  if (text.length > maxBytes) return true;
  return text.length * 3 > maxBytes && encoder.encode(text).length > maxBytes;
}

interface Limits {
  readonly rule: Rule;
  readonly maxBytes: number;
  readonly unit: 'characters' | 'bytes';
}

function check(text: string, { rule: { pattern, text: message }, maxBytes, unit }: Limits): string[] {
  const errors: string[] = [];
  if (isLonger(text, maxBytes)) errors.push(`must be no more than ${maxBytes} ${unit}`);
  if (!pattern.test(text)) errors.push(message);
  return errors;
}

/** `my-name`: Namespaces, containers, hosts. */
export function dns1123LabelErrors(text: string): string[] {
  const errors = check(text, { rule: labelRule, maxBytes: maxLabelLength, unit: 'characters' });
  const last = errors.length - 1;
  if (errors[last] === labelRule.text && subdomainRule.pattern.test(text))
    errors[last] = 'must not contain dots';
  return errors;
}

/** `example.com`: names of most kinds and of all custom resources. */
export function dns1123SubdomainErrors(text: string): string[] {
  return check(text, { rule: subdomainRule, maxBytes: maxSubdomainLength, unit: 'characters' });
}

/** `abc-123`: Services. */
export function dns1035LabelErrors(text: string): string[] {
  return check(text, { rule: serviceRule, maxBytes: maxLabelLength, unit: 'characters' });
}

/** `*.example.com`: hosts of Ingress rules. */
export function wildcardSubdomainErrors(text: string): string[] {
  return check(text, { rule: wildcardRule, maxBytes: maxSubdomainLength, unit: 'characters' });
}

/** `[prefix/]name`: keys of labels and annotations, finalizers, resource names. */
export function qualifiedNameErrors(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2) {
    const optional = "with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
    return [`a valid label key ${labelKeyRule.text} ${optional}`];
  }
  const [prefix, name] = parts.length === 2 ? parts : [undefined, text];
  return [...prefixErrors(prefix), ...namePartErrors(name ?? '')];
}

function prefixErrors(prefix: string | undefined): string[] {
  if (prefix === undefined) return [];
  if (prefix === '') return ['prefix part must be non-empty'];
  const errors = check(prefix, { rule: subdomainRule, maxBytes: maxSubdomainLength, unit: 'bytes' });
  return errors.map((error) => `prefix part ${error}`);
}

function namePartErrors(name: string): string[] {
  const errors: string[] = name === '' ? ['name part must be non-empty'] : [];
  const found = check(name, { rule: labelKeyRule, maxBytes: maxLabelLength, unit: 'bytes' });
  return [...errors, ...found.map((error) => `name part ${error}`)];
}

export function labelValueErrors(text: string): string[] {
  return check(text, { rule: labelValueRule, maxBytes: maxLabelLength, unit: 'bytes' });
}

/** Names that can be one segment of a path: RBAC kinds and others without a stricter rule. */
export function pathSegmentErrors(text: string): string[] {
  if (text === '.' || text === '..') return [`may not be '${text}'`];
  return pathSegmentPrefixErrors(text);
}

/** The beginning of such a name, to which more will be appended. */
export function pathSegmentPrefixErrors(text: string): string[] {
  return ['/', '%'].filter((part) => text.includes(part)).map((part) => `may not contain '${part}'`);
}

/** Keys of ConfigMaps and Secrets. */
export function configKeyErrors(text: string): string[] {
  const errors = check(text, { rule: configKeyRule, maxBytes: maxSubdomainLength, unit: 'characters' });
  return [...errors, ...directoryErrors(text)];
}

/** Environment names as pods accept them today: printable ASCII without `=`. */
export function relaxedEnvironmentNameErrors(text: string): string[] {
  const message =
    "a valid environment variable name must consist only of printable ASCII characters other than '='";
  if (text === '') return ['environment variable name must be non-empty'];
  return /^[\x20-\x3c\x3e-\x7e]*$/.test(text) ? [] : [message];
}

function directoryErrors(text: string): string[] {
  if (text === '.' || text === '..') return [`must not be '${text}'`];
  return text.startsWith('..') ? ["must not start with '..'"] : [];
}

/** Names of container and service ports (IANA_SVC_NAME). */
export function portNameErrors(text: string): string[] {
  const errors: string[] = [];
  if (isLonger(text, 15)) errors.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(text)) {
    errors.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(text)) errors.push('must contain at least one letter (a-z)');
  if (text.includes('--')) errors.push('must not contain consecutive hyphens');
  if (text.startsWith('-') || text.endsWith('-')) errors.push('must not begin or end with a hyphen');
  return errors;
}

export function portNumberErrors(port: number): string[] {
  return Number.isInteger(port) && port >= 1 && port <= 65535
    ? []
    : ['must be between 1 and 65535, inclusive'];
}

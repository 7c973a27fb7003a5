import { listOf, opaqueType, optionalOf, stringType } from '../checker/type.ts';
import { regexFactor, traversalFactor } from '../values/cost.ts';
import { parseDate, parseTimestamp } from '../values/time.ts';
import { ArrayList, none, Opaque, Optional } from '../values/value.ts';
import { method, type Overload, plain } from './overload.ts';
import { parseRequestUri } from './url-text.ts';

const name = 'kubernetes.NamedFormat';

export class NamedFormat extends Opaque {
  readonly type = name;
  readonly label: string;
  /** What is wrong with a text; empty if nothing. */
  readonly validate: (text: string) => readonly string[];
  /** How long upstream takes the format's regular expression to be, for costs. */
  readonly regexSize: number;

  constructor(label: string, regexSize: number, validate: (text: string) => readonly string[]) {
    super();
    this.label = label;
    this.regexSize = regexSize;
    this.validate = validate;
  }

  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && other.label === this.label;
  }
}

export const formatType = opaqueType<NamedFormat>(name);

const label1123 = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const label1035 = '[a-z]([-a-z0-9]*[a-z0-9])?';
const subdomain1123 = `${label1123}(\\.${label1123})*`;
const qualified = '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]';

interface Rule {
  readonly pattern: RegExp;
  readonly shown: string;
  readonly maxLength: number;
  readonly message: string;
  readonly examples: readonly string[];
}

function rule(source: string, maxLength: number, texts: readonly [string, ...string[]]): Rule {
  const [message, ...examples] = texts;
  return { pattern: new RegExp(`^(?:${source})$`), shown: source, maxLength, message, examples };
}

function regexMessage({ message, shown, examples }: Rule): string {
  const list = examples.map((example) => `'${example}'`).join(',  or ');
  return `${message} (e.g. ${list}, regex used for validation is '${shown}')`;
}

const label = rule(label1123, 63, [
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
  'my-name',
  '123-abc',
]);
const subdomain = rule(subdomain1123, 253, [
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
  'example.com',
]);
const oldLabel = rule(label1035, 63, [
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
  'my-name',
  'abc-123',
]);
const labelText = rule(`(${qualified})?`, 63, [
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  'MyValue',
  'my_value',
  '12345',
]);
const nameText = rule(qualified, 63, [
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
  'MyName',
  'my.name',
  '123-abc',
]);

function violations(text: string, own: Rule): string[] {
  const found: string[] = [];
  const isTooLong = text.length > own.maxLength;
  if (isTooLong) found.push(`must be no more than ${own.maxLength} characters`);
  // The patterns take linear time, and names beyond their length are wrong anyhow.
  if (text.length > 10_000 || !own.pattern.test(text)) found.push(regexMessage(own));
  return found;
}

/** A prefix may end with a dash, as what follows is not there yet. */
function prefixViolations(text: string, own: Rule): string[] {
  return violations(text.length > 1 && text.endsWith('-') ? `${text.slice(0, -1)}a` : text, own);
}

const slashExample = " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";

function qualifiedName(text: string): string[] {
  const parts = text.split('/');
  if (parts.length > 2)
    return [`a valid label key ${regexMessage(nameText).slice('name part '.length)}${slashExample}`];
  const [prefix, own] = parts.length === 2 ? [parts[0], parts[1] ?? ''] : [undefined, parts[0] ?? ''];
  return [...prefixPart(prefix), ...namePart(own)];
}

function prefixPart(prefix: string | undefined): string[] {
  if (prefix === undefined) return [];
  if (prefix === '') return ['prefix part must be non-empty'];
  return violations(prefix, subdomain).map((message) => `prefix part ${message}`);
}

function namePart(own: string): string[] {
  if (own === '') return ['name part must be non-empty', regexMessage(nameText)];
  const messages = own.length > 63 ? ['name part must be no more than 63 characters'] : [];
  if (own.length > 10_000 || !nameText.pattern.test(own)) messages.push(regexMessage(nameText));
  return messages;
}

const uuidText = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;
const base64Text = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function test(isValid: (text: string) => boolean, message: string): (text: string) => readonly string[] {
  return (text) => (isValid(text) ? [] : [message]);
}

function uriViolations(text: string): readonly string[] {
  const parts = parseRequestUri(text);
  return 'reason' in parts ? [parts.reason] : [];
}

const formats: ReadonlyMap<string, NamedFormat> = new Map([
  ['dns1123Label', new NamedFormat('DNS1123Label', 30, (text) => violations(text, label))],
  ['dns1123Subdomain', new NamedFormat('DNS1123Subdomain', 60, (text) => violations(text, subdomain))],
  ['dns1035Label', new NamedFormat('DNS1035Label', 30, (text) => violations(text, oldLabel))],
  ['qualifiedName', new NamedFormat('QualifiedName', 60, qualifiedName)],
  ['dns1123LabelPrefix', new NamedFormat('DNS1123LabelPrefix', 30, (text) => prefixViolations(text, label))],
  [
    'dns1123SubdomainPrefix',
    new NamedFormat('DNS1123SubdomainPrefix', 60, (text) => prefixViolations(text, subdomain)),
  ],
  [
    'dns1035LabelPrefix',
    new NamedFormat('DNS1035LabelPrefix', 30, (text) => prefixViolations(text, oldLabel)),
  ],
  ['labelValue', new NamedFormat('LabelValue', 40, (text) => violations(text, labelText))],
  ['uri', new NamedFormat('URI', 1104, uriViolations)],
  [
    'uuid',
    new NamedFormat(
      'uuid',
      72,
      test((text) => uuidText.test(text), 'does not match the UUID format'),
    ),
  ],
  [
    'byte',
    new NamedFormat(
      'byte',
      84,
      test((text) => base64Text.test(text), 'invalid base64'),
    ),
  ],
  [
    'date',
    new NamedFormat(
      'date',
      72,
      test((text) => parseDate(text) !== undefined, 'invalid date'),
    ),
  ],
  [
    'datetime',
    new NamedFormat(
      'datetime',
      72,
      test((text) => parseTimestamp(text) !== undefined, 'invalid datetime'),
    ),
  ],
]);

function validate(format: NamedFormat, text: string): Optional {
  const messages = format.validate(text);
  return messages.length === 0 ? none : new Optional(new ArrayList(messages));
}

function validateCost(format: NamedFormat, text: string): number {
  return Math.ceil((1 + text.length) * traversalFactor) * Math.ceil(format.regexSize * regexFactor);
}

function constants(): Record<string, readonly Overload[]> {
  const entries = Array.from(formats, ([key, format]) => {
    return [`format.${key}`, [plain({ params: [], result: formatType, call: () => format })]] as const;
  });
  return Object.fromEntries(entries);
}

/** `format.named("dns1123Label").value().validate(text)`. */
export const formatLibrary: Readonly<Record<string, readonly Overload[]>> = {
  ...constants(),
  'format.named': [
    plain({
      params: [stringType],
      result: optionalOf(formatType),
      call: (key) => {
        const format = formats.get(key);
        return format ? new Optional(format) : none;
      },
    }),
  ],
  validate: [
    method({
      params: [formatType, stringType],
      result: optionalOf(listOf(stringType)),
      call: validate,
      cost: validateCost,
    }),
  ],
};

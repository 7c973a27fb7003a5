import { setField } from '@sheaf/base';
import { type FieldError, invalid, required, tooLong } from '../../meta/field-error.ts';
import { configKeyErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { immutableField, pushInvalid } from '../checks.ts';
import { ensureAt, fillText, objectAt, textAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';
import { immutableErrors } from './config-map.ts';
import { base64Size, bytesAt } from './data-size.ts';

const maxBytes = 1024 * 1024;

export const secretRules: KindRules = {
  applyDefaults(secret) {
    const fields = asJson(secret);
    takeStringData(secret);
    fillText(fields, 'type', 'Opaque');
  },
  prepareForCreate: takeStringData,
  prepareForUpdate: takeStringData,
  validateCreate,
  validateUpdate(next, old) {
    return [
      ...immutableField('type', asJson(next)['type'], asJson(old)['type']),
      ...immutableErrors(next, old, ['data']),
      ...validateCreate(next),
    ];
  },
  warnings: certificateWarnings,
  selectableFields: (secret) => ({ type: textAt(asJson(secret), 'type') }),
};

/** `stringData` is only ever written; what it holds goes into `data`. */
function takeStringData(secret: KubeObject): void {
  const fields = asJson(secret);
  const texts = objectAt(fields, 'stringData');
  delete fields['stringData'];
  if (texts === undefined) return;
  const data = ensureAt(fields, 'data');
  for (const key of Object.keys(texts))
    setField(data, key, Buffer.from(textAt(texts, key)).toString('base64'));
}

const pem = /-----BEGIN [A-Z0-9 ]+-----[\s\S]+?-----END [A-Z0-9 ]+-----/;

/** Whoever uses the pair would fail; the Secret itself is allowed. */
function certificateWarnings(secret: KubeObject): readonly string[] {
  const fields = asJson(secret);
  if (textAt(fields, 'type') !== 'kubernetes.io/tls') return [];
  const data = bytesAt(fields, 'data');
  for (const [key, what] of [
    ['tls.crt', 'certificate'],
    ['tls.key', 'key'],
  ] as const) {
    const text = Buffer.from(data[key] ?? '', 'base64').toString('latin1');
    if (!pem.test(text)) return [`tls: failed to find any PEM data in ${what} input`];
  }
  return [];
}

function validateCreate(secret: KubeObject): FieldError[] {
  const fields = asJson(secret);
  const data = bytesAt(fields, 'data');
  const errors: FieldError[] = [];
  let total = 0;
  for (const [key, value] of Object.entries(data)) {
    pushInvalid(errors, { field: `data[${key}]`, value: key }, configKeyErrors(key));
    total += base64Size(value);
  }
  if (total > maxBytes) errors.push(tooLong('data', maxBytes));
  const rule = typeRules.get(textAt(fields, 'type'));
  return rule === undefined ? errors : [...errors, ...rule(secret, data)];
}

type Data = Readonly<Record<string, string>>;

const typeRules: ReadonlyMap<string, (secret: KubeObject, data: Data) => FieldError[]> = new Map([
  ['kubernetes.io/service-account-token', serviceAccountErrors],
  ['kubernetes.io/dockercfg', (_secret: KubeObject, data: Data) => jsonErrors(data, '.dockercfg')],
  [
    'kubernetes.io/dockerconfigjson',
    (_secret: KubeObject, data: Data) => jsonErrors(data, '.dockerconfigjson'),
  ],
  ['kubernetes.io/basic-auth', basicAuthErrors],
  [
    'kubernetes.io/ssh-auth',
    (_secret: KubeObject, data: Data) => presentErrors(data, ['ssh-privatekey'], true),
  ],
  [
    'kubernetes.io/tls',
    (_secret: KubeObject, data: Data) => presentErrors(data, ['tls.crt', 'tls.key'], false),
  ],
]);

function serviceAccountErrors(secret: KubeObject): FieldError[] {
  const annotation = 'kubernetes.io/service-account.name';
  if (secret.metadata.annotations?.[annotation]) return [];
  return [required(`metadata.annotations[${annotation}]`)];
}

function jsonErrors(data: Data, key: string): FieldError[] {
  const value = data[key];
  const field = `data[${key}]`;
  if (value === undefined) return [required(field)];
  const text = Buffer.from(value, 'base64').toString();
  try {
    JSON.parse(text);
    return [];
  } catch {
    return [invalid(field, '<secret contents redacted>', goJsonFault(text))];
  }
}

const literals: Readonly<Record<string, string>> = { t: 'true', f: 'false', n: 'null' };

/** The words in which Go's decoder refuses a text that is no JSON, for the faults that people make. */
function goJsonFault(text: string): string {
  const trimmed = text.trimStart();
  const first = trimmed[0];
  if (first === undefined || /["{[\d-]/.test(first)) return 'unexpected end of JSON input';
  const literal = literals[first];
  if (literal === undefined) return `invalid character '${first}' looking for beginning of value`;
  for (let at = 1; at < literal.length; at++) {
    const char = trimmed[at];
    if (char === undefined) return 'unexpected end of JSON input';
    if (char !== literal[at])
      return `invalid character '${char}' in literal ${literal} (expecting '${literal[at]}')`;
  }
  return `invalid character '${trimmed[literal.length]}' after top-level value`;
}

function basicAuthErrors(_secret: KubeObject, data: Data): FieldError[] {
  if ('username' in data || 'password' in data) return [];
  return [required('data[username]'), required('data[password]')];
}

function presentErrors(data: Data, keys: readonly string[], notEmpty: boolean): FieldError[] {
  return keys
    .filter((key) => (notEmpty ? !data[key] : data[key] === undefined))
    .map((key) => required(`data[${key}]`));
}

import { jsonEqual } from '@sheaf/base';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123SubdomainErrors } from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { type Errors, immutableField } from '../checks.ts';
import { fieldsAt, numberAt, specOf, textAt, textsAt } from '../fields.ts';
import type { KindRules } from '../kind-rules.ts';

export const certificateRules: Readonly<Record<string, KindRules>> = {
  'certificates.k8s.io/CertificateSigningRequest': {
    nameRule: 'path-segment',
    prepareForUpdate: keepCertificate,
    validateCreate: validateRequest,
    validateUpdate: (next, old) => [
      ...immutableField('spec', next['spec'] as never, old['spec'] as never),
      ...validateRequest(next),
    ],
    validateStatusUpdate: (next, old) => statusErrors(next, old),
    selectableFields: (request) => ({ 'spec.signerName': textAt(specOf(request), 'signerName') }),
  },
};

/** Of the request itself nothing changes. */
function keepCertificate(next: KubeObject, old: KubeObject): void {
  next['spec'] = old['spec'];
}

const usages = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
];
const least = 600;

function validateRequest(request: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(request);
  checkPem(errors, textAt(spec, 'request'));
  checkUsages(errors, textsAt(spec, 'usages'));
  checkSigner(errors, textAt(spec, 'signerName'));
  const seconds = numberAt(spec, 'expirationSeconds');
  if (seconds !== undefined && seconds < least)
    errors.push(
      invalid(
        'spec.expirationSeconds',
        seconds,
        `may not specify a duration less than ${least} seconds (10 minutes)`,
      ),
    );
  return errors;
}

function checkPem(errors: Errors, encoded: string): void {
  const text = Buffer.from(encoded, 'base64').toString('latin1');
  if (!/-----BEGIN CERTIFICATE REQUEST-----[\s\S]+?-----END CERTIFICATE REQUEST-----/.test(text))
    errors.push(invalid('spec.request', encoded, 'PEM block type must be CERTIFICATE REQUEST'));
}

function checkUsages(errors: Errors, given: readonly string[]): void {
  if (given.length === 0) errors.push(required('spec.usages'));
  const seen = new Set<string>();
  for (const [index, usage] of given.entries()) {
    if (!usages.includes(usage)) errors.push(notSupported(`spec.usages[${index}]`, usage, usages));
    if (seen.has(usage)) errors.push(duplicate(`spec.usages[${index}]`, usage));
    seen.add(usage);
  }
}

function checkSigner(errors: Errors, name: string): void {
  const field = 'spec.signerName';
  if (name === '') return void errors.push(required(field));
  const [domain = '', path = '', ...more] = name.split('/');
  if (more.length > 0 || path === '' || !domain.includes('.'))
    return void errors.push(
      invalid(field, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'"),
    );
  for (const detail of dns1123SubdomainErrors(domain))
    errors.push(invalid(field, domain, `validating label "${domain}": ${detail}`));
}

/** A certificate that was issued stays. */
function statusErrors(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const [given, kept] = [fieldsAt(asJson(next), 'status'), fieldsAt(asJson(old), 'status')];
  const issued = kept['certificate'];
  if (issued === undefined || jsonEqual(given['certificate'], issued)) return [];
  return [invalid('status.certificate', given['certificate'] ?? null, 'field is immutable')];
}

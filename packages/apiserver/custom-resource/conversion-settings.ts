import { X509Certificate } from 'node:crypto';
import { type FieldError, forbiddenField, required } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { asJsonList, type ConversionSettings, type Definition } from './definition.ts';
import { invalidValue, unsupportedValue } from './field-errors.ts';
import { readNumber, readObject, readText } from './json-reader.ts';
import { dns1035LabelFaults, dns1123SubdomainFaults } from './name-syntax.ts';

const path = 'spec.conversion';
const strategies = ['None', 'Webhook'];
const knownReviewVersions = ['v1', 'v1beta1'];

/** Checks `spec.conversion`. A bad CA bundle is let pass until the definition is established. */
export function validateConversionSettings(
  definition: Definition,
  old: Definition | undefined,
): readonly FieldError[] {
  const { conversion } = definition;
  const errors: FieldError[] = [];
  if (conversion.strategy === '') errors.push(required(`${path}.strategy`));
  else if (!strategies.includes(conversion.strategy)) {
    errors.push(unsupportedValue(`${path}.strategy`, conversion.strategy, strategies));
  }
  if (conversion.strategy === 'Webhook') validateWebhook(conversion, allowsBadBundle(old), errors);
  else validateNoWebhook(conversion, errors);
  return errors;
}

function allowsBadBundle(old: Definition | undefined): boolean {
  if (old === undefined) return true;
  const isEstablished = old.conditions.some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  );
  return !isEstablished || bundleFault(readText(old.conversion.clientConfig?.['caBundle'])) !== undefined;
}

function validateNoWebhook(conversion: ConversionSettings, errors: FieldError[]): void {
  const detail = 'should not be set when strategy is not set to Webhook';
  if (conversion.clientConfig !== undefined) {
    errors.push(forbiddenField(`${path}.webhookClientConfig`, detail));
  }
  if (conversion.reviewVersions.length > 0) {
    errors.push(forbiddenField(`${path}.conversionReviewVersions`, detail));
  }
}

function validateWebhook(
  conversion: ConversionSettings,
  isBadBundleAllowed: boolean,
  errors: FieldError[],
): void {
  const field = `${path}.webhookClientConfig`;
  const config = conversion.clientConfig;
  if (config === undefined) {
    errors.push(required(field, 'required when strategy is set to Webhook'));
  } else {
    validateTarget(config, field, errors);
    const bundle = readText(config['caBundle']);
    const fault = isBadBundleAllowed ? undefined : bundleFault(bundle);
    if (fault !== undefined) errors.push(invalidValue(`${field}.caBundle`, bundle, fault));
  }
  validateReviewVersions(conversion.reviewVersions, errors);
}

function validateTarget(config: JsonObject, field: string, errors: FieldError[]): void {
  const { url } = config;
  const service = readObject(config['service']);
  if ((typeof url === 'string') === (service !== undefined)) {
    errors.push(required(field, 'exactly one of url or service is required'));
  } else if (typeof url === 'string') {
    errors.push(...validateUrl(url, `${field}.url`));
  } else if (service !== undefined) {
    validateService(service, `${field}.service`, errors);
  }
}

const form = '; desired format: https://host[/path]';

/** Checks the URL of a webhook. */
function validateUrl(text: string, field: string): readonly FieldError[] {
  const parts = /^(?:([a-zA-Z][a-zA-Z0-9+.-]*):)?(?:\/\/([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?$/s.exec(
    text,
  );
  if (parts === null || /[\x00-\x1f\x7f]/.test(text) || /%(?![0-9a-fA-F]{2})/.test(text)) {
    return [required(field, `url must be a valid URL: parse ${JSON.stringify(text)}${form}`)];
  }
  const [, scheme = '', authority = '', , query = '', fragment = ''] = parts;
  const at = authority.lastIndexOf('@');
  const checks: readonly (readonly [boolean, string, string])[] = [
    [scheme.toLowerCase() !== 'https', scheme.toLowerCase(), `'https' is the only allowed URL scheme${form}`],
    [authority.slice(at + 1) === '', '', `host must be specified${form}`],
    [at >= 0, authority.slice(0, Math.max(at, 0)), 'user information is not permitted in the URL'],
    [fragment !== '', fragment, 'fragments are not permitted in the URL'],
    [query !== '', query, 'query parameters are not permitted in the URL'],
  ];
  return checks.filter(([isWrong]) => isWrong).map(([, value, detail]) => invalidValue(field, value, detail));
}

function validateService(service: JsonObject, field: string, errors: FieldError[]): void {
  for (const name of ['name', 'namespace']) {
    if (readText(service[name]) === '') errors.push(required(`${field}.${name}`));
  }
  const port = readNumber(service['port']) ?? 0;
  if (!(Number.isInteger(port) && port >= 1 && port <= 65_535)) {
    const detail = 'port is not valid: must be between 1 and 65535, inclusive';
    errors.push(invalidValue(`${field}.port`, port, detail));
  }
  validateServicePath(readText(service['path']), `${field}.path`, errors);
}

function validateServicePath(text: string, field: string, errors: FieldError[]): void {
  if (text === '' || text === '/') return;
  if (text === '//') {
    errors.push(invalidValue(field, text, 'segment[0] may not be empty'));
    return;
  }
  if (!text.startsWith('/')) errors.push(invalidValue(field, text, "must start with a '/'"));
  const segments = text.slice(1).replace(/\/$/, '').split('/');
  segments.forEach((segment, index) => {
    const faults = segment === '' ? [] : dns1123SubdomainFaults(segment);
    if (segment === '') errors.push(invalidValue(field, text, `segment[${index}] may not be empty`));
    for (const fault of faults) errors.push(invalidValue(field, text, `segment[${index}]: ${fault}`));
  });
}

function validateReviewVersions(versions: readonly string[], errors: FieldError[]): void {
  const field = `${path}.conversionReviewVersions`;
  if (versions.length === 0) {
    errors.push(required(field));
    return;
  }
  versions.forEach((version, index) => {
    if (versions.indexOf(version) < index) {
      errors.push(invalidValue(`${field}[${index}]`, version, 'duplicate version'));
      return;
    }
    for (const fault of dns1035LabelFaults(version)) {
      errors.push(invalidValue(`${field}[${index}]`, version, fault));
    }
  });
  if (!versions.some((version) => knownReviewVersions.includes(version))) {
    const detail = `must include at least one of ${knownReviewVersions.join(', ')}`;
    errors.push(invalidValue(field, asJsonList(versions), detail));
  }
}

/** What is wrong with a base64-encoded bundle of PEM certificates; an empty one is fine. */
export function bundleFault(bundle: string): string | undefined {
  const text = Buffer.from(bundle, 'base64').toString('latin1');
  if (text === '') return undefined;
  const blocks = text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  if (blocks.some(isCertificate)) return undefined;
  return 'unable to load root certificates: unable to parse bytes as PEM block';
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).subject !== null;
  } catch {
    return false;
  }
}

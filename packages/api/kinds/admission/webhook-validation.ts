import type { JsonObject } from '@sheaf/base';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import {
  dns1035LabelErrors,
  dns1123SubdomainErrors,
  portNumberErrors,
  qualifiedNameErrors,
} from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { checkOptionalEnum, type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, numberAt, objectAt, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';
import { checkRules } from './rule-checks.ts';

export function validateWebhooks(configuration: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const names = new Set<string>();
  const isMutating = configuration.kind === 'MutatingWebhookConfiguration';
  for (const [index, webhook] of listAt(asJson(configuration), 'webhooks').entries()) {
    const at = `webhooks[${index}]`;
    checkWebhook(errors, at, webhook);
    if (isMutating)
      checkOptionalEnum(errors, { field: `${at}.reinvocationPolicy`, value: webhook['reinvocationPolicy'] }, [
        'IfNeeded',
        'Never',
      ]);
    const name = textAt(webhook, 'name');
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
  }
  return errors;
}

function checkWebhook(errors: Errors, field: string, webhook: JsonObject): void {
  checkName(errors, `${field}.name`, textAt(webhook, 'name'));
  checkLabelSelector(errors, `${field}.namespaceSelector`, objectAt(webhook, 'namespaceSelector'));
  checkLabelSelector(errors, `${field}.objectSelector`, objectAt(webhook, 'objectSelector'));
  checkRules(errors, `${field}.rules`, listAt(webhook, 'rules'));
  checkOptionalEnum(errors, { field: `${field}.failurePolicy`, value: webhook['failurePolicy'] }, [
    'Fail',
    'Ignore',
  ]);
  checkOptionalEnum(errors, { field: `${field}.matchPolicy`, value: webhook['matchPolicy'] }, [
    'Equivalent',
    'Exact',
  ]);
  checkSideEffects(errors, `${field}.sideEffects`, webhook);
  const seconds = numberAt(webhook, 'timeoutSeconds');
  if (seconds !== undefined && (seconds < 1 || seconds > 30))
    errors.push(
      invalid(`${field}.timeoutSeconds`, seconds, 'the timeout value must be between 1 and 30 seconds'),
    );
  checkClient(errors, `${field}.clientConfig`, fieldsAt(webhook, 'clientConfig'));
  checkMatchConditions(errors, `${field}.matchConditions`, listAt(webhook, 'matchConditions'));
  checkVersions(errors, `${field}.admissionReviewVersions`, textsAt(webhook, 'admissionReviewVersions'));
}

function checkName(errors: Errors, field: string, name: string): void {
  if (name === '') return void errors.push(required(field));
  pushInvalid(errors, { field: field, value: name }, dns1123SubdomainErrors(name));
  if (name.split('.').length < 3)
    errors.push(invalid(field, name, 'should be a domain with at least three segments separated by dots'));
}

function checkSideEffects(errors: Errors, field: string, webhook: JsonObject): void {
  const value = webhook['sideEffects'];
  const allowed = ['None', 'NoneOnDryRun'];
  if (typeof value !== 'string') errors.push(required(field, `must specify one of ${allowed.join(', ')}`));
  else if (!allowed.includes(value)) errors.push(notSupported(field, value, allowed));
}

const known = ['v1', 'v1beta1'];

function checkVersions(errors: Errors, field: string, versions: readonly string[]): void {
  if (versions.length === 0)
    return void errors.push(required(field, `must specify one of ${known.join(', ')}`));
  const seen = new Set<string>();
  for (const [index, version] of versions.entries()) {
    if (seen.has(version)) errors.push(invalid(`${field}[${index}]`, version, 'duplicate version'));
    seen.add(version);
    pushInvalid(errors, { field: `${field}[${index}]`, value: version }, dns1035LabelErrors(version));
  }
  if (!known.some((version) => seen.has(version)))
    errors.push(invalid(field, versions, `must include at least one of ${known.join(', ')}`));
}

function checkClient(errors: Errors, field: string, client: JsonObject): void {
  const service = objectAt(client, 'service');
  const hasUrl = typeof client['url'] === 'string';
  if ((service === undefined) !== hasUrl)
    errors.push(required(field, 'exactly one of url or service is required'));
  else if (service !== undefined) checkService(errors, `${field}.service`, service);
  else checkUrl(errors, `${field}.url`, textAt(client, 'url'));
}

const urlForm = '; desired format: https://host[/path]';

function checkUrl(errors: Errors, field: string, text: string): void {
  const url = URL.parse(text);
  if (url === null) {
    errors.push(
      required(field, `url must be a valid URL: parse ${JSON.stringify(text)}: invalid URI${urlForm}`),
    );
    return;
  }
  const scheme = url.protocol.slice(0, -1);
  if (scheme !== 'https')
    errors.push(invalid(field, scheme, `'https' is the only allowed URL scheme${urlForm}`));
  if (url.host === '') errors.push(invalid(field, '', `host must be specified${urlForm}`));
  if (url.username !== '') {
    const shown = url.password === '' ? url.username : `${url.username}:${url.password}`;
    errors.push(invalid(field, shown, 'user information is not permitted in the URL'));
  }
  if (url.hash !== '')
    errors.push(invalid(field, url.hash.slice(1), 'fragments are not permitted in the URL'));
  if (url.search !== '')
    errors.push(invalid(field, url.search.slice(1), 'query parameters are not permitted in the URL'));
}

function checkService(errors: Errors, field: string, service: JsonObject): void {
  for (const name of ['name', 'namespace'])
    if (textAt(service, name) === '') errors.push(required(`${field}.${name}`));
  const port = numberAt(service, 'port') ?? 443;
  for (const detail of portNumberErrors(port))
    errors.push(invalid(`${field}.port`, port, `port is not valid: ${detail}`));
  const path = textAt(service, 'path');
  if (path !== '') checkPath(errors, `${field}.path`, path);
}

function checkPath(errors: Errors, field: string, path: string): void {
  if (path === '/') return;
  if (!path.startsWith('/')) errors.push(invalid(field, path, "must start with a '/'"));
  const segments = path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, segment] of segments.entries()) {
    if (segment === '') errors.push(invalid(field, path, `segment[${index}] may not be empty`));
    else
      for (const detail of dns1123SubdomainErrors(segment))
        errors.push(invalid(field, path, `segment[${index}]: ${detail}`));
  }
}

export function checkMatchConditions(errors: Errors, field: string, conditions: readonly JsonObject[]): void {
  if (conditions.length > 64)
    errors.push({
      type: 'FieldValueTooMany',
      field,
      message: `Too many: ${conditions.length}: must have at most 64 items`,
    });
  const names = new Set<string>();
  for (const [index, condition] of conditions.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(condition, 'name');
    if (textAt(condition, 'expression').trim() === '') errors.push(required(`${at}.expression`));
    if (name === '') errors.push(required(`${at}.name`));
    else pushInvalid(errors, { field: `${at}.name`, value: name }, qualifiedNameErrors(name));
    if (name === '') continue;
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
  }
}

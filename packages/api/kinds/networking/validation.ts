import type { JsonObject } from '@sheaf/base';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import {
  dns1123LabelErrors,
  dns1123SubdomainErrors,
  portNameErrors,
  portNumberErrors,
  wildcardSubdomainErrors,
} from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { checkCidr, checkIp, checkRoutable, ipFamily } from '../address-checks.ts';
import { checkEnum, checkOptionalEnum, type Errors, immutableField, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, numberAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';

export function validateIngress(ingress: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(ingress);
  const rules = listAt(spec, 'rules');
  const backend = objectAt(spec, 'defaultBackend');
  if (rules.length === 0 && backend === undefined)
    errors.push(invalid('spec', null, 'either `defaultBackend` or `rules` must be specified'));
  if (backend !== undefined) checkBackend(errors, 'spec.defaultBackend', backend);
  for (const [index, rule] of rules.entries()) checkRule(errors, `spec.rules[${index}]`, rule);
  for (const [index, tls] of listAt(spec, 'tls').entries()) checkTls(errors, `spec.tls[${index}]`, tls);
  checkSubdomain(errors, 'spec.ingressClassName', textAt(spec, 'ingressClassName'));
  return errors;
}

function checkSubdomain(errors: Errors, field: string, name: string): void {
  if (name !== '') pushInvalid(errors, { field: field, value: name }, dns1123SubdomainErrors(name));
}

function checkHost(errors: Errors, field: string, host: string): void {
  const found = host.includes('*') ? wildcardSubdomainErrors(host) : dns1123SubdomainErrors(host);
  for (const detail of found) errors.push(invalid(field, host, detail));
}

function checkTls(errors: Errors, field: string, tls: JsonObject): void {
  for (const [index, host] of textsAt(tls, 'hosts').entries())
    checkHost(errors, `${field}.hosts[${index}]`, host);
  checkSubdomain(errors, `${field}.secretName`, textAt(tls, 'secretName'));
}

function checkRule(errors: Errors, field: string, rule: JsonObject): void {
  const host = textAt(rule, 'host');
  if (host !== '') {
    if (ipFamily(host) === 0) checkHost(errors, `${field}.host`, host);
    else errors.push(invalid(`${field}.host`, host, 'must be a DNS name, not an IP address'));
  }
  const http = objectAt(rule, 'http');
  if (http === undefined) return;
  const paths = listAt(http, 'paths');
  if (paths.length === 0) errors.push(required(`${field}.http.paths`));
  for (const [index, path] of paths.entries()) checkPath(errors, `${field}.http.paths[${index}]`, path);
}

const pathTypes = ['Exact', 'ImplementationSpecific', 'Prefix'];
const badParts = ['//', '/./', '/../', '%2f', '%2F'];
const badEnds = ['/..', '/.'];

function checkPath(errors: Errors, field: string, path: JsonObject): void {
  const type = path['pathType'];
  const text = textAt(path, 'path');
  if (type === undefined || type === null) {
    errors.push(required(`${field}.pathType`, 'pathType must be specified'));
  } else if (typeof type === 'string' && !pathTypes.includes(type)) {
    errors.push(notSupported(`${field}.pathType`, type, pathTypes));
  } else if (type === 'ImplementationSpecific') {
    if (text !== '' && !text.startsWith('/'))
      errors.push(invalid(`${field}.path`, text, 'must be an absolute path'));
  } else {
    checkStrictPath(errors, `${field}.path`, text);
  }
  checkBackend(errors, `${field}.backend`, fieldsAt(path, 'backend'));
}

function checkStrictPath(errors: Errors, field: string, path: string): void {
  if (!path.startsWith('/')) errors.push(invalid(field, path, 'must be an absolute path'));
  if (path === '') return;
  for (const part of badParts)
    if (path.includes(part)) errors.push(invalid(field, path, `must not contain '${part}'`));
  for (const end of badEnds)
    if (path.endsWith(end)) errors.push(invalid(field, path, `cannot end with '${end}'`));
}

function checkBackend(errors: Errors, field: string, backend: JsonObject): void {
  const [service, resource] = [objectAt(backend, 'service'), objectAt(backend, 'resource')];
  if (service !== undefined && resource !== undefined)
    errors.push(invalid(field, '', 'cannot set both resource and service backends'));
  else if (resource !== undefined) checkReference(errors, `${field}.resource`, resource);
  else if (service === undefined) errors.push(invalid(field, '', 'resource or service backend is required'));
  else checkServiceBackend(errors, field, service);
}

function checkReference(errors: Errors, field: string, reference: JsonObject): void {
  checkSubdomain(errors, `${field}.apiGroup`, textAt(reference, 'apiGroup'));
  for (const name of ['kind', 'name'])
    if (textAt(reference, name) === '') errors.push(required(`${field}.${name}`));
}

function checkServiceBackend(errors: Errors, field: string, service: JsonObject): void {
  const name = textAt(service, 'name');
  if (name === '') errors.push(required(`${field}.service.name`));
  else pushInvalid(errors, { field: `${field}.service.name`, value: name }, dns1123LabelErrors(name));
  const port = fieldsAt(service, 'port');
  const [portName, number] = [textAt(port, 'name'), numberAt(port, 'number') ?? 0];
  if (portName !== '' && number !== 0)
    errors.push(invalid(field, '', 'cannot set both port name & port number'));
  else if (portName !== '')
    pushInvalid(errors, { field: `${field}.service.port.name`, value: portName }, portNameErrors(portName));
  else if (number !== 0)
    pushInvalid(errors, { field: `${field}.service.port.number`, value: number }, portNumberErrors(number));
  else errors.push(required(field, 'port name or number is required'));
}

export function validateIngressClass(ingressClass: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(ingressClass);
  const controller = textAt(spec, 'controller');
  if (controller === '') errors.push(required('spec.controller'));
  else if (controller.length > 250)
    errors.push({
      type: 'FieldValueTooLong',
      field: 'spec.controller',
      message: 'Too long: may not be more than 250 bytes',
    });
  else if (!/^[^/]+\/.+$/.test(controller))
    errors.push(
      invalid('spec.controller', controller, 'must be a domain-prefixed path (such as "acme.io/foo")'),
    );
  const parameters = objectAt(spec, 'parameters');
  if (parameters === undefined) return errors;
  checkReference(errors, 'spec.parameters', parameters);
  checkScope(errors, 'spec.parameters', parameters);
  return errors;
}

function checkScope(errors: Errors, field: string, parameters: JsonObject): void {
  const scope = textAt(parameters, 'scope');
  const namespace = textAt(parameters, 'namespace');
  checkEnum(errors, { field: `${field}.scope`, value: scope }, ['Cluster', 'Namespace']);
  if (scope === 'Namespace' && namespace === '')
    errors.push(required(`${field}.namespace`, "`parameters.scope` is set to 'Namespace'"));
  if (scope === 'Cluster' && namespace !== '')
    errors.push(forbiddenField(`${field}.namespace`, "`parameters.scope` is set to 'Cluster'"));
}

export function validateIngressClassUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const stays = immutableField('spec.controller', specOf(next)['controller'], specOf(old)['controller']);
  return [...stays, ...validateIngressClass(next)];
}

const families: Readonly<Record<string, 4 | 6>> = { IPv4: 4, IPv6: 6 };
const protocols = ['SCTP', 'TCP', 'UDP'];

export function validateEndpointSlice(slice: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const fields = asJson(slice);
  const type = textAt(fields, 'addressType');
  checkEnum(errors, { field: 'addressType', value: type }, ['FQDN', 'IPv4', 'IPv6']);
  for (const [index, endpoint] of listAt(fields, 'endpoints').entries())
    checkEndpoint(errors, `endpoints[${index}]`, { endpoint, type });
  checkSlicePorts(errors, listAt(fields, 'ports'));
  return errors;
}

function checkEndpoint(
  errors: Errors,
  field: string,
  { endpoint, type }: { endpoint: JsonObject; type: string },
): void {
  const addresses = textsAt(endpoint, 'addresses');
  if (addresses.length === 0) errors.push(required(`${field}.addresses`, 'must contain at least 1 address'));
  else if (addresses.length > 100)
    errors.push({
      type: 'FieldValueTooMany',
      field: `${field}.addresses`,
      message: `Too many: ${addresses.length}: must have at most 100 items`,
    });
  for (const [index, address] of addresses.entries())
    checkSliceAddress(errors, `${field}.addresses[${index}]`, { address, type });
  const hostname = endpoint['hostname'];
  if (typeof hostname === 'string')
    pushInvalid(errors, { field: `${field}.hostname`, value: hostname }, dns1123LabelErrors(hostname));
}

function checkSliceAddress(
  errors: Errors,
  field: string,
  { address, type }: { address: string; type: string },
): void {
  if (type === 'FQDN') return checkSubdomain(errors, field, address);
  const family = families[type];
  if (family === undefined) return;
  if (ipFamily(address) === 0) return checkIp(errors, field, address);
  if (ipFamily(address) !== family) errors.push(invalid(field, address, `must be an ${type} address`));
  checkRoutable(errors, field, address);
}

function checkSlicePorts(errors: Errors, ports: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `ports[${index}]`;
    const name = textAt(port, 'name');
    if (name !== '') pushInvalid(errors, { field: `${at}.name`, value: name }, dns1123LabelErrors(name));
    if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    names.add(name);
    const protocol = textAt(port, 'protocol');
    if (protocol === '') errors.push(required(`${at}.protocol`));
    else checkOptionalEnum(errors, { field: `${at}.protocol`, value: protocol }, protocols);
  }
}

export function validateEndpointSliceUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const stays = immutableField('addressType', asJson(next)['addressType'], asJson(old)['addressType']);
  return [...validateEndpointSlice(next), ...stays];
}

export function validateIpAddress(address: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const { name = '' } = address.metadata;
  checkIp(errors, 'metadata.name', name);
  const parent = objectAt(specOf(address), 'parentRef');
  if (parent === undefined) return [...errors, required('spec.parentRef')];
  for (const field of ['resource', 'name'])
    if (textAt(parent, field) === '') errors.push(required(`spec.parentRef.${field}`));
  return errors;
}

export function validateServiceCidr(range: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const networks = textsAt(specOf(range), 'cidrs');
  if (networks.length === 0) errors.push(required('spec.cidrs', 'at least one CIDR required'));
  for (const [index, network] of networks.entries()) checkCidr(errors, `spec.cidrs[${index}]`, network);
  return errors;
}

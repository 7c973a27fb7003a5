import type { JsonObject } from '@sheaf/base';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../meta/field-error.ts';
import {
  dns1123LabelErrors,
  labelValueErrors,
  portNumberErrors,
  qualifiedNameErrors,
} from '../../meta/names.ts';
import { asJson, type KubeObject } from '../../meta/object.ts';
import { checkCidr, checkIp, checkRoutable, parseCidr } from '../address-checks.ts';
import { checkEnum, checkNotNegative, type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, mapAt, numberAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';
import { checkRestartAlways, checkTemplate, checkTemplateLabels, templateLabels } from './template-checks.ts';

export function validateReplicationController(controller: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(controller);
  checkNotNegative(errors, 'spec.minReadySeconds', spec['minReadySeconds']);
  const selector = mapAt(spec, 'selector');
  const keys = Object.keys(selector);
  if (keys.length === 0) errors.push(required('spec.selector'));
  checkNotNegative(errors, 'spec.replicas', spec['replicas']);
  const template = objectAt(spec, 'template');
  if (template === undefined) {
    errors.push(required('spec.template'));
    return errors;
  }
  const labels = templateLabels(template);
  if (keys.some((key) => labels[key] !== selector[key]))
    checkTemplateLabels(errors, 'spec.template', template);
  checkTemplate(errors, 'spec.template', template);
  checkRestartAlways(errors, 'spec.template', template);
  return errors;
}

export function validatePodTemplate(template: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  checkTemplate(errors, 'template', fieldsAt(asJson(template), 'template'));
  return errors;
}

export function validateEndpoints(endpoints: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  for (const [index, subset] of listAt(asJson(endpoints), 'subsets').entries()) {
    const at = `subsets[${index}]`;
    const lists = ['addresses', 'notReadyAddresses'] as const;
    if (lists.every((list) => listAt(subset, list).length === 0))
      errors.push(required(at, 'must specify `addresses` or `notReadyAddresses`'));
    for (const list of lists)
      for (const [place, address] of listAt(subset, list).entries())
        checkAddress(errors, `${at}.${list}[${place}]`, address);
    const ports = listAt(subset, 'ports');
    for (const [place, port] of ports.entries())
      checkEndpointPort(errors, `${at}.ports[${place}]`, { port, needsName: ports.length > 1 });
  }
  return errors;
}

function checkAddress(errors: Errors, field: string, address: JsonObject): void {
  const ip = textAt(address, 'ip');
  checkIp(errors, `${field}.ip`, ip);
  const hostname = textAt(address, 'hostname');
  if (hostname !== '')
    pushInvalid(errors, { field: `${field}.hostname`, value: hostname }, dns1123LabelErrors(hostname));
  checkRoutable(errors, `${field}.ip`, ip);
}

function checkEndpointPort(
  errors: Errors,
  field: string,
  { port, needsName }: { port: JsonObject; needsName: boolean },
): void {
  const name = textAt(port, 'name');
  if (name === '') {
    if (needsName) errors.push(required(`${field}.name`));
  } else {
    pushInvalid(errors, { field: `${field}.name`, value: name }, dns1123LabelErrors(name));
  }
  const number = numberAt(port, 'port') ?? 0;
  pushInvalid(errors, { field: `${field}.port`, value: number }, portNumberErrors(number));
  checkEnum(errors, { field: `${field}.protocol`, value: textAt(port, 'protocol') }, ['SCTP', 'TCP', 'UDP']);
}

const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];

export function validateNode(node: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(node);
  const seen = new Set<string>();
  for (const [index, taint] of listAt(spec, 'taints').entries()) {
    const at = `metadata.taints[${index}]`;
    checkTaint(errors, at, taint);
    const pair = `${textAt(taint, 'key')}:${textAt(taint, 'effect')}`;
    if (seen.has(pair)) errors.push(repeatedTaint(at, taint));
    seen.add(pair);
  }
  checkPodNetworks(errors, textsAt(spec, 'podCIDRs'));
  return errors;
}

function checkTaint(errors: Errors, field: string, taint: JsonObject): void {
  const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
  pushInvalid(errors, { field: `${field}.key`, value: key }, qualifiedNameErrors(key));
  pushInvalid(errors, { field: `${field}.value`, value: value }, labelValueErrors(value));
  if (effect === '') errors.push(required(`${field}.effect`));
  else if (!effects.includes(effect)) errors.push(notSupported(`${field}.effect`, effect, effects));
}

function repeatedTaint(field: string, taint: JsonObject): FieldError {
  const [key, value, effect] = [textAt(taint, 'key'), textAt(taint, 'value'), textAt(taint, 'effect')];
  const shown = { Key: key, Value: value, Effect: effect, TimeAdded: taint['timeAdded'] ?? null };
  const error = duplicate(field, shown);
  return { ...error, message: `${error.message}: taints must be unique by key and effect pair` };
}

function checkPodNetworks(errors: Errors, networks: readonly string[]): void {
  for (const [index, network] of networks.entries()) checkCidr(errors, `spec.podCIDRs[${index}]`, network);
  if (networks.length < 2) return;
  const broken = networks.findIndex((network) => parseCidr(network) === undefined);
  if (broken >= 0)
    errors.push({
      type: 'InternalError',
      field: 'spec.podCIDRs',
      message: `Internal error: invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${broken}]: <nil> (invalid CIDR address: ${networks[broken]})`,
    });
  const families = new Set(networks.map((network) => parseCidr(network)?.family));
  if (networks.length > 2 || families.size !== networks.length)
    errors.push(invalid('spec.podCIDRs', networks, 'may specify no more than one CIDR for each IP family'));
}

/** Networks of pods are given once. */
export function validateNodeUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: Errors = [...validateNode(next)];
  const [given, kept] = [textsAt(specOf(next), 'podCIDRs'), textsAt(specOf(old), 'podCIDRs')];
  if (kept.length > 0 && (given.length !== kept.length || given.some((network, at) => network !== kept[at])))
    errors.push({
      type: 'FieldValueForbidden',
      field: 'spec.podCIDRs',
      message: 'Forbidden: node updates may not change podCIDR except from "" to valid',
    });
  const provider = textAt(specOf(old), 'providerID');
  if (provider !== '' && textAt(specOf(next), 'providerID') !== provider)
    errors.push({
      type: 'FieldValueForbidden',
      field: 'spec.providerID',
      message: 'Forbidden: node updates may not change providerID except from "" to valid',
    });
  return errors;
}

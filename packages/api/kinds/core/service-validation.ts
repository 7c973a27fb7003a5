import type { JsonObject } from '@sheaf/base';
import { duplicate, type FieldError, forbiddenField, invalid, required } from '../../meta/field-error.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, portNumberErrors } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import { checkCidr, checkIp, checkRoutable, ipFamily } from '../address-checks.ts';
import { checkEnum, checkOptionalEnum, type Errors, immutableField, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, mapAt, numberAt, specOf, textAt, textsAt } from '../fields.ts';
import { checkLabels } from '../label-selector-checks.ts';
import { checkPort } from './probe-checks.ts';

const types = ['ClusterIP', 'ExternalName', 'LoadBalancer', 'NodePort'];

export function validateService(service: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(service);
  checkType(errors, spec);
  checkPorts(errors, spec);
  checkLabels(errors, 'spec.selector', mapAt(spec, 'selector'));
  checkAffinity(errors, spec);
  checkClusterIps(errors, spec);
  for (const [index, ip] of textsAt(spec, 'externalIPs').entries())
    checkExternalIp(errors, `spec.externalIPs[${index}]`, ip);
  checkEnum(errors, { field: 'spec.type', value: textAt(spec, 'type') }, types);
  checkNodePorts(errors, spec);
  checkSourceRanges(errors, spec);
  checkBalancerFields(errors, spec);
  checkTraffic(errors, spec);
  return errors;
}

function isHeadless(spec: JsonObject): boolean {
  return textAt(spec, 'clusterIP') === 'None';
}

function checkType(errors: Errors, spec: JsonObject): void {
  const type = textAt(spec, 'type');
  if (listAt(spec, 'ports').length === 0 && !isHeadless(spec) && type !== 'ExternalName')
    errors.push(required('spec.ports'));
  if ((type === 'LoadBalancer' || type === 'NodePort') && isHeadless(spec))
    errors.push(invalid('spec.clusterIPs[0]', 'None', `may not be set to 'None' for ${type} services`));
  if (type === 'ExternalName') checkExternalName(errors, spec);
}

function checkExternalName(errors: Errors, spec: JsonObject): void {
  if (textAt(spec, 'clusterIP') !== '')
    errors.push(forbiddenField('spec.clusterIPs', 'may not be set for ExternalName services'));
  const name = textAt(spec, 'externalName').replace(/\.$/, '');
  if (name === '') errors.push(required('spec.externalName'));
  else pushInvalid(errors, { field: 'spec.externalName', value: name }, dns1123SubdomainErrors(name));
}

function checkPorts(errors: Errors, spec: JsonObject): void {
  const ports = listAt(spec, 'ports');
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `spec.ports[${index}]`;
    checkPortName(errors, `${at}.name`, { name: textAt(port, 'name'), names, isNeeded: ports.length > 1 });
    const number = numberAt(port, 'port') ?? 0;
    pushInvalid(errors, { field: `${at}.port`, value: number }, portNumberErrors(number));
    checkEnum(errors, { field: `${at}.protocol`, value: textAt(port, 'protocol') }, ['SCTP', 'TCP', 'UDP']);
    checkPort(errors, `${at}.targetPort`, port['targetPort']);
  }
  checkSamePorts(errors, ports);
}

function checkPortName(
  errors: Errors,
  field: string,
  { name, names, isNeeded }: { name: string; names: Set<string>; isNeeded: boolean },
): void {
  if (name === '') {
    if (isNeeded) errors.push(required(field));
    return;
  }
  pushInvalid(errors, { field: field, value: name }, dns1123LabelErrors(name));
  if (names.has(name)) errors.push(duplicate(field, name));
  names.add(name);
}

function checkSamePorts(errors: Errors, ports: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const [protocol, number] = [textAt(port, 'protocol'), numberAt(port, 'port') ?? 0];
    const key = `${protocol}/${number}`;
    if (seen.has(key))
      errors.push(
        duplicate(`spec.ports[${index}]`, {
          Name: '',
          Protocol: protocol,
          AppProtocol: null,
          Port: number,
          TargetPort: 0,
          NodePort: 0,
        }),
      );
    seen.add(key);
  }
}

function checkAffinity(errors: Errors, spec: JsonObject): void {
  const affinity = textAt(spec, 'sessionAffinity');
  checkEnum(errors, { field: 'spec.sessionAffinity', value: affinity }, ['ClientIP', 'None']);
  if (affinity !== 'ClientIP') return;
  const seconds =
    numberAt(fieldsAt(fieldsAt(spec, 'sessionAffinityConfig'), 'clientIP'), 'timeoutSeconds') ?? 0;
  if (seconds <= 0 || seconds > 86_400)
    errors.push(
      invalid(
        'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
        seconds,
        'must be greater than 0 and less than 86400',
      ),
    );
}

function checkClusterIps(errors: Errors, spec: JsonObject): void {
  const ip = textAt(spec, 'clusterIP');
  const ips = textsAt(spec, 'clusterIPs');
  if (textAt(spec, 'type') === 'ExternalName') return;
  if (ip === '' && ips.length > 0)
    return void errors.push(
      invalid('spec.clusterIPs', ips, 'must be empty when `clusterIP` is not specified'),
    );
  if (ip !== '' && ips.length > 0 && ips[0] !== ip)
    errors.push(invalid('spec.clusterIPs', ips, 'first value must match `clusterIP`'));
  checkAddresses(errors, ips.length > 0 ? ips : [ip]);
}

function checkAddresses(errors: Errors, ips: readonly string[]): void {
  for (const [index, ip] of ips.entries())
    if (ip !== '' && ip !== 'None') checkIp(errors, `spec.clusterIPs[${index}]`, ip);
}

function checkExternalIp(errors: Errors, field: string, ip: string): void {
  if (ipFamily(ip) === 0) checkIp(errors, field, ip);
  else checkRoutable(errors, field, ip);
}

function checkNodePorts(errors: Errors, spec: JsonObject): void {
  const type = textAt(spec, 'type');
  if (type === 'ClusterIP') {
    for (const [index, port] of listAt(spec, 'ports').entries())
      if (port['nodePort'])
        errors.push(
          forbiddenField(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'"),
        );
  }
  const taken = new Set<string>();
  for (const [index, port] of listAt(spec, 'ports').entries()) {
    if (!port['nodePort']) continue;
    const key = `${textAt(port, 'protocol')}/${numberAt(port, 'nodePort')}`;
    if (taken.has(key)) errors.push(duplicate(`spec.ports[${index}].nodePort`, port['nodePort']));
    taken.add(key);
  }
}

const onlyBalancers = "may only be used when `type` is 'LoadBalancer'";

function checkSourceRanges(errors: Errors, spec: JsonObject): void {
  const ranges = textsAt(spec, 'loadBalancerSourceRanges');
  if (ranges.length === 0) return;
  if (textAt(spec, 'type') !== 'LoadBalancer')
    return void errors.push(forbiddenField('spec.LoadBalancerSourceRanges', onlyBalancers));
  for (const [index, range] of ranges.entries())
    checkCidr(errors, `spec.LoadBalancerSourceRanges[${index}]`, range.trim());
}

function checkBalancerFields(errors: Errors, spec: JsonObject): void {
  if (textAt(spec, 'type') === 'LoadBalancer') {
    if (spec['allocateLoadBalancerNodePorts'] === undefined)
      errors.push(required('spec.allocateLoadBalancerNodePorts'));
    return;
  }
  for (const name of ['allocateLoadBalancerNodePorts', 'loadBalancerClass'])
    if (spec[name] !== undefined) errors.push(forbiddenField(`spec.${name}`, onlyBalancers));
}

/** Reached from outside of the cluster. */
export function isExternallyAccessible(spec: JsonObject): boolean {
  const type = textAt(spec, 'type');
  if (type === 'LoadBalancer' || type === 'NodePort') return true;
  return type === 'ClusterIP' && textsAt(spec, 'externalIPs').length > 0;
}

function checkTraffic(errors: Errors, spec: JsonObject): void {
  const external = textAt(spec, 'externalTrafficPolicy');
  const type = textAt(spec, 'type');
  const isExternal = isExternallyAccessible(spec);
  const policies = ['Cluster', 'Local'];
  if (external !== '' && !isExternal)
    errors.push(
      invalid('spec.externalTrafficPolicy', external, 'may only be set for externally-accessible services'),
    );
  else if (isExternal) checkEnum(errors, { field: 'spec.externalTrafficPolicy', value: external }, policies);
  const check = numberAt(spec, 'healthCheckNodePort') ?? 0;
  if (check !== 0 && (type !== 'LoadBalancer' || external !== 'Local'))
    errors.push(
      invalid(
        'spec.healthCheckNodePort',
        check,
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'",
      ),
    );
  checkOptionalEnum(
    errors,
    { field: 'spec.internalTrafficPolicy', value: spec['internalTrafficPolicy'] },
    policies,
  );
}

/** Addresses that were given stay, as long as the service has any. */
export function validateServiceUpdate(next: KubeObject, old: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const [spec, kept] = [specOf(next), specOf(old)];
  const types = [textAt(spec, 'type'), textAt(kept, 'type')];
  if (!types.includes('ExternalName')) {
    const [ips, known] = [textsAt(spec, 'clusterIPs'), textsAt(kept, 'clusterIPs')];
    const ip = textAt(spec, 'clusterIP');
    if (known[0] !== undefined && ip !== known[0])
      errors.push(
        ...immutableField('spec.clusterIPs[0]', ips[0] ?? ip, known[0]).map((error) =>
          clusterIpError(error, [ip]),
        ),
      );
  }
  if (types[0] === 'LoadBalancer' && types[1] === 'LoadBalancer' && kept['loadBalancerClass'] !== undefined)
    errors.push(
      ...immutableField('spec.loadBalancerClass', spec['loadBalancerClass'], kept['loadBalancerClass']).map(
        mayNotChange,
      ),
    );
  return [...errors, ...validateService(next)];
}

const changeDetail = 'may not change once set';

function mayNotChange(error: FieldError): FieldError {
  return { ...error, message: error.message.replace(/field is immutable$/, changeDetail) };
}

function clusterIpError({ field }: FieldError, ips: readonly string[]): FieldError {
  return invalid(field, ips, changeDetail);
}

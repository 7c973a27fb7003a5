import type { JsonObject } from '@sheaf/base';
import { type FieldError, forbiddenField, invalid, notSupported, required } from '../../meta/field-error.ts';
import type { KubeObject } from '../../meta/object.ts';
import { cidrDetail, isStrictSubnet, parseCidr } from '../address-checks.ts';
import type { Errors } from '../checks.ts';
import { checkPort } from '../core/probe-checks.ts';
import { listAt, objectAt, specOf, textAt, textsAt } from '../fields.ts';
import { checkLabelSelector } from '../label-selector-checks.ts';

export function validateNetworkPolicy(policy: KubeObject): readonly FieldError[] {
  const errors: Errors = [];
  const spec = specOf(policy);
  checkLabelSelector(errors, 'spec.podSelector', objectAt(spec, 'podSelector'));
  checkRules(errors, 'spec.ingress', [listAt(spec, 'ingress'), 'from']);
  checkRules(errors, 'spec.egress', [listAt(spec, 'egress'), 'to']);
  const types = textsAt(spec, 'policyTypes');
  if (types.length > 2) {
    errors.push(invalid('spec.policyTypes', types, 'may not specify more than two policyTypes'));
    return errors;
  }
  for (const [index, type] of types.entries())
    if (type !== 'Ingress' && type !== 'Egress')
      errors.push(notSupported(`spec.policyTypes[${index}]`, type, ['Ingress', 'Egress']));
  return errors;
}

function checkRules(
  errors: Errors,
  field: string,
  [rules, peers]: readonly [readonly JsonObject[], string],
): void {
  for (const [index, rule] of rules.entries()) {
    const at = `${field}[${index}]`;
    for (const [place, port] of listAt(rule, 'ports').entries())
      checkPolicyPort(errors, `${at}.ports[${place}]`, port);
    for (const [place, peer] of listAt(rule, peers).entries())
      checkPeer(errors, `${at}.${peers}[${place}]`, peer);
  }
}

const protocols = ['TCP', 'UDP', 'SCTP'];

function checkPolicyPort(errors: Errors, field: string, given: JsonObject): void {
  const protocol = textAt(given, 'protocol');
  if (protocol !== '' && !protocols.includes(protocol))
    errors.push(notSupported(`${field}.protocol`, protocol, protocols));
  const { port, endPort } = given;
  if (port !== undefined) checkPort(errors, `${field}.port`, port);
  if (typeof endPort !== 'number') return;
  if (port === undefined)
    errors.push(invalid(`${field}.endPort`, endPort, 'may not be specified when `port` is not specified'));
  else if (typeof port === 'string')
    errors.push(invalid(`${field}.endPort`, endPort, 'may not be specified when `port` is non-numeric'));
  else {
    // Upstream shows the port, not the end that is wrong.
    if (endPort < Number(port))
      errors.push(invalid(`${field}.endPort`, port, 'must be greater than or equal to `port`'));
    if (endPort < 1 || endPort > 65535) checkPort(errors, `${field}.endPort`, endPort);
  }
}

function checkPeer(errors: Errors, field: string, peer: JsonObject): void {
  const [pods, namespaces] = [objectAt(peer, 'podSelector'), objectAt(peer, 'namespaceSelector')];
  const block = objectAt(peer, 'ipBlock');
  checkLabelSelector(errors, `${field}.podSelector`, pods);
  checkLabelSelector(errors, `${field}.namespaceSelector`, namespaces);
  if (block !== undefined) checkBlock(errors, `${field}.ipBlock`, block);
  const others = [pods, namespaces].filter((selector) => selector !== undefined).length;
  if (others === 0 && block === undefined) errors.push(required(field, 'must specify a peer'));
  else if (others > 0 && block !== undefined)
    errors.push(forbiddenField(field, 'may not specify both ipBlock and another peer'));
}

function checkBlock(errors: Errors, field: string, block: JsonObject): void {
  const network = textAt(block, 'cidr');
  if (network === '') return void errors.push(required(`${field}.cidr`));
  if (parseCidr(network) === undefined)
    return void errors.push(invalid(`${field}.cidr`, network, cidrDetail));
  for (const [index, hole] of textsAt(block, 'except').entries()) {
    const at = `${field}.except[${index}]`;
    if (parseCidr(hole) === undefined) errors.push(invalid(at, hole, cidrDetail));
    else if (!isStrictSubnet(hole, network))
      errors.push(invalid(at, hole, 'must be a strict subset of `cidr`'));
  }
}

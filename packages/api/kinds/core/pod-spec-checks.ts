import type { JsonObject } from '@sheaf/base';
import { duplicate, invalid, notSupported, required } from '../../meta/field-error.ts';
import { dns1123LabelErrors, dns1123SubdomainErrors, qualifiedNameErrors } from '../../meta/names.ts';
import { checkIp } from '../address-checks.ts';
import { checkEnum, type Errors, pushInvalid } from '../checks.ts';
import { isTrueAt, listAt, mapAt, objectAt, textAt, textsAt } from '../fields.ts';
import { checkLabels } from '../label-selector-checks.ts';
import { checkContainers } from './container-checks.ts';
import { checkAmount, checkResourceName } from './container-resource-checks.ts';
import { checkAffinity, checkTolerations, checkTopologySpread } from './scheduling-checks.ts';
import { checkPodSecurity } from './security-context-checks.ts';
import { checkVolumes } from './volume-checks.ts';

const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'];

/** The spec of a pod or of a template of pods. */
export function checkPodSpec(errors: Errors, field: string, spec: JsonObject): void {
  const volumes = checkVolumes(errors, `${field}.volumes`, listAt(spec, 'volumes'));
  checkResourceClaims(errors, `${field}.resourceClaims`, listAt(spec, 'resourceClaims'));
  checkContainers(errors, field, { spec, volumes });
  checkHostNetwork(errors, field, spec);
  checkEnum(errors, { field: `${field}.restartPolicy`, value: textAt(spec, 'restartPolicy') }, [
    'Always',
    'OnFailure',
    'Never',
  ]);
  checkEnum(errors, { field: `${field}.dnsPolicy`, value: textAt(spec, 'dnsPolicy') }, dnsPolicies);
  checkLabels(errors, `${field}.nodeSelector`, mapAt(spec, 'nodeSelector'));
  checkPodSecurity(errors, `${field}.securityContext`, spec);
  const affinity = objectAt(spec, 'affinity');
  if (affinity !== undefined) checkAffinity(errors, `${field}.affinity`, affinity);
  checkDns(errors, `${field}.dnsConfig`, spec);
  checkGates(errors, field, spec);
  checkTopologySpread(
    errors,
    `${field}.topologySpreadConstraints`,
    listAt(spec, 'topologySpreadConstraints'),
  );
  checkNames(errors, field, spec);
  checkTolerations(errors, `${field}.tolerations`, listAt(spec, 'tolerations'));
  checkHostAliases(errors, `${field}.hostAliases`, listAt(spec, 'hostAliases'));
  checkClasses(errors, field, spec);
  checkOverhead(errors, `${field}.overhead`, mapAt(spec, 'overhead'));
  const os = objectAt(spec, 'os');
  if (os !== undefined)
    checkEnum(errors, { field: `${field}.os`, value: textAt(os, 'name') }, ['linux', 'windows']);
}

function checkResourceClaims(errors: Errors, field: string, claims: readonly JsonObject[]): void {
  for (const [index, claim] of claims.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(claim, 'name');
    if (name === '') errors.push(required(`${at}.name`));
    else pushInvalid(errors, { field: `${at}.name`, value: name }, dns1123LabelErrors(name));
    const [own, template] = [claim['resourceClaimName'] ?? null, claim['resourceClaimTemplateName'] ?? null];
    const shown = { Name: name, ResourceClaimName: own, ResourceClaimTemplateName: template };
    if (own === null && template === null)
      errors.push(
        invalid(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'),
      );
    else if (own !== null && template !== null)
      errors.push(
        invalid(
          at,
          shown,
          'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified',
        ),
      );
  }
}

function checkHostNetwork(errors: Errors, field: string, spec: JsonObject): void {
  if (!isTrueAt(spec, 'hostNetwork')) return;
  for (const list of ['containers', 'initContainers'])
    for (const [index, container] of listAt(spec, list).entries())
      checkSamePorts(errors, `${field}.${list}[${index}].ports`, listAt(container, 'ports'));
}

function checkSamePorts(errors: Errors, field: string, ports: readonly JsonObject[]): void {
  for (const [index, { containerPort, hostPort }] of ports.entries())
    if (hostPort !== undefined && hostPort !== containerPort)
      errors.push(
        invalid(
          `${field}[${index}].hostPort`,
          hostPort,
          'must match `containerPort` when `hostNetwork` is true',
        ),
      );
}

const searchDomain = /^_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*$/;
const searchDetail =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";

function checkDns(errors: Errors, field: string, spec: JsonObject): void {
  const config = objectAt(spec, 'dnsConfig');
  if (textAt(spec, 'dnsPolicy') === 'None') {
    if (config === undefined)
      return void errors.push(required(field, 'must provide `dnsConfig` when `dnsPolicy` is None'));
    if (textsAt(config, 'nameservers').length === 0)
      return void errors.push(
        required(`${field}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None'),
      );
  }
  if (config === undefined) return;
  const servers = textsAt(config, 'nameservers');
  if (servers.length > 3)
    errors.push(invalid(`${field}.nameservers`, servers, 'must not have more than 3 nameservers'));
  for (const [index, server] of servers.entries()) checkIp(errors, `${field}.nameservers[${index}]`, server);
  checkSearches(errors, `${field}.searches`, textsAt(config, 'searches'));
  for (const [index, option] of listAt(config, 'options').entries())
    if (textAt(option, 'name') === '')
      errors.push(required(`${field}.options[${index}]`, 'must not be empty'));
}

function checkSearches(errors: Errors, field: string, searches: readonly string[]): void {
  if (searches.length > 32) errors.push(invalid(field, searches, 'must not have more than 32 search paths'));
  if (searches.join(' ').length > 2048)
    errors.push(
      invalid(
        field,
        searches,
        'must not have more than 2048 characters (including spaces) in the search list',
      ),
    );
  for (const [index, search] of searches.entries()) {
    const name = search.replace(/\.$/, '');
    if (name !== '' && (name.length > 253 || !searchDomain.test(name)))
      errors.push(invalid(`${field}[${index}]`, search, searchDetail));
  }
}

function checkGates(errors: Errors, field: string, spec: JsonObject): void {
  for (const [index, gate] of listAt(spec, 'readinessGates').entries()) {
    const type = textAt(gate, 'conditionType');
    pushInvalid(
      errors,
      { field: `${field}.readinessGates[${index}].conditionType`, value: type },
      qualifiedNameErrors(type),
    );
  }
  const seen = new Set<string>();
  for (const [index, gate] of listAt(spec, 'schedulingGates').entries()) {
    const [name, at] = [textAt(gate, 'name'), `${field}.schedulingGates[${index}]`];
    pushInvalid(errors, { field: at, value: name }, qualifiedNameErrors(name));
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
  }
}

function checkNames(errors: Errors, field: string, spec: JsonObject): void {
  checkSubdomain(errors, `${field}.serviceAccountName`, textAt(spec, 'serviceAccountName'));
  checkSubdomain(errors, `${field}.nodeName`, textAt(spec, 'nodeName'));
  const deadline = spec['activeDeadlineSeconds'];
  if (typeof deadline === 'number' && (deadline < 1 || deadline > 2147483647))
    errors.push(
      invalid(`${field}.activeDeadlineSeconds`, deadline, 'must be between 1 and 2147483647, inclusive'),
    );
  for (const name of ['hostname', 'subdomain']) {
    const text = textAt(spec, name);
    if (text !== '')
      pushInvalid(errors, { field: `${field}.${name}`, value: text }, dns1123LabelErrors(text));
  }
}

function checkSubdomain(errors: Errors, field: string, name: string): void {
  if (name !== '') pushInvalid(errors, { field: field, value: name }, dns1123SubdomainErrors(name));
}

function checkHostAliases(errors: Errors, field: string, aliases: readonly JsonObject[]): void {
  for (const [index, alias] of aliases.entries()) {
    checkIp(errors, `${field}[${index}].ip`, textAt(alias, 'ip'));
    for (const [place, name] of textsAt(alias, 'hostnames').entries())
      pushInvalid(
        errors,
        { field: `${field}[${index}].hostnames[${place}]`, value: name },
        dns1123SubdomainErrors(name),
      );
  }
}

function checkClasses(errors: Errors, field: string, spec: JsonObject): void {
  checkSubdomain(errors, `${field}.priorityClassName`, textAt(spec, 'priorityClassName'));
  checkSubdomain(errors, `${field}.runtimeClassName`, textAt(spec, 'runtimeClassName'));
  const policy = spec['preemptionPolicy'];
  const policies = ['Never', 'PreemptLowerPriority'];
  if (typeof policy === 'string' && !policies.includes(policy))
    errors.push(notSupported(`${field}.preemptionPolicy`, policy, policies));
}

/** Amounts that a sandbox takes; refused as limits of a container are. */
export function checkOverhead(
  errors: Errors,
  field: string,
  overhead: Readonly<Record<string, string>>,
): void {
  for (const entry of Object.entries(overhead)) {
    const at = `${field}.limits[${entry[0]}]`;
    checkResourceName(errors, at, entry[0]);
    if (!entry[0].includes('/') && !['cpu', 'memory', 'ephemeral-storage'].includes(entry[0]))
      errors.push(invalid(at, entry[0], 'must be a standard resource for containers'));
    checkAmount(errors, at, entry);
  }
}

import { type JsonObject, parseQuantity, quantityAsBigInt } from '@sheaf/base';
import { dns1123LabelErrors } from '../../meta/names.ts';
import type { KubeObject } from '../../meta/object.ts';
import { fieldsAt, listAt, mapAt, numberAt, specOf, textAt } from '../fields.ts';
import { pushVolumeWarnings } from './volume-warnings.ts';

const lists = ['initContainers', 'containers'] as const;

export function podWarnings(pod: KubeObject): readonly string[] {
  const { name = '' } = pod.metadata;
  const faults = dns1123LabelErrors(name);
  const hostname =
    faults.length === 0
      ? []
      : [
          `metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended: [${faults.join(' ')}]`,
        ];
  return [...hostname, ...specWarnings(specOf(pod), 'spec')];
}

/** `parent` holds the template, `field` is its path. */
export function podTemplateWarnings(parent: JsonObject, field: string): readonly string[] {
  return specWarnings(fieldsAt(fieldsAt(parent, 'template'), 'spec'), `${field}.template.spec`);
}

const olderLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region':
    'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone':
    'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type':
    'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

function specWarnings(spec: JsonObject, field: string): readonly string[] {
  const warnings: string[] = [];
  for (const key of Object.keys(mapAt(spec, 'nodeSelector')))
    if (Object.hasOwn(olderLabels, key)) warnings.push(`${field}.nodeSelector[${key}]: ${olderLabels[key]}`);
  pushVolumeWarnings(warnings, field, spec);
  pushPullSecrets(warnings, field, spec);
  for (const list of lists) {
    for (const [index, container] of listAt(spec, list).entries()) {
      const at = `${field}.${list}[${index}]`;
      pushFractions(warnings, `${at}.resources`, fieldsAt(container, 'resources'));
      pushRepeated(warnings, at, container);
    }
  }
  pushPorts(warnings, spec, field);
  if ((numberAt(spec, 'terminationGracePeriodSeconds') ?? 0) < 0)
    warnings.push(
      `${field}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  return warnings;
}

function pushPullSecrets(warnings: string[], field: string, spec: JsonObject): void {
  const seen = new Set<string>();
  for (const [index, secret] of listAt(spec, 'imagePullSecrets').entries()) {
    const name = textAt(secret, 'name');
    const at = `${field}.imagePullSecrets[${index}].name`;
    if (name === '') warnings.push(`${at}: invalid empty name ""`);
    else if (seen.has(name)) warnings.push(`${at}: duplicate name ${JSON.stringify(name)}`);
    seen.add(name);
  }
}

/** `100m` of memory is a tenth of a byte, and never what was meant. */
function pushFractions(warnings: string[], field: string, resources: JsonObject): void {
  for (const resource of ['memory', 'ephemeral-storage']) {
    for (const list of ['limits', 'requests']) {
      const amount = mapAt(resources, list)[resource];
      if (amount?.endsWith('m') && quantityAsBigInt(parseQuantity(amount), -3) % 1000n !== 0n)
        warnings.push(
          `${field}.${list}[${resource}]: fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`,
        );
    }
  }
}

/** Of two variables with one name the later hides the earlier. */
function pushRepeated(warnings: string[], field: string, container: JsonObject): void {
  const seen = new Set<string>();
  for (const [index, variable] of listAt(container, 'env').entries()) {
    const name = textAt(variable, 'name');
    if (seen.has(name) && !textAt(variable, 'value').includes(`$(${name})`))
      warnings.push(
        `${field}.env[${index}]: hides previous definition of ${JSON.stringify(name)}, which may be dropped when using apply`,
      );
    seen.add(name);
  }
}

function pushPorts(warnings: string[], spec: JsonObject, field: string): void {
  const seen = new Map<string, string>();
  for (const [index, container] of listAt(spec, 'containers').entries()) {
    for (const [place, port] of listAt(container, 'ports').entries()) {
      const key = `${textAt(port, 'protocol')}/${numberAt(port, 'containerPort') ?? 0}`;
      const at = `${field}.containers[${index}].ports[${place}]`;
      const first = seen.get(key);
      if (first === undefined) seen.set(key, at);
      else if (!port['hostPort']) warnings.push(`${at}: duplicate port definition with ${first}`);
    }
  }
}

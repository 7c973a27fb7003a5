import type { Container, EnvFromSource, EnvVar, Pod } from '@sheaf/api/workload/index';
import { fieldOf, resourceOf } from './pod-fields.ts';

/** The data of ConfigMaps and Secrets of a pod's namespace; `undefined`: there is none of that name. */
export interface DataLookup {
  configMap(name: string): Readonly<Record<string, string>> | undefined;
  /** Values are text here, whatever bytes they are. */
  secret(name: string): Readonly<Record<string, string>> | undefined;
}

export interface EnvironmentFacts {
  readonly pod: Pod;
  readonly container: Container;
  readonly data: DataLookup;
  /** Where the Services of the namespace are; the container's own names win. */
  readonly services: Readonly<Record<string, string>>;
  readonly hostAddress: string;
  readonly podAddresses: readonly string[];
  readonly allocatable: Readonly<Record<string, string>>;
}

export type Environment =
  | { readonly values: Readonly<Record<string, string>> }
  /** Something that it names is not there. */
  | { readonly problem: string };

/** The environment of a container. References `$(NAME)` mean what has been set before. */
export function environmentOf(facts: EnvironmentFacts): Environment {
  const values: Record<string, string> = { ...facts.services };
  const problem = addSources(facts, values) ?? addVariables(facts, values);
  return problem === undefined ? { values } : { problem };
}

/** `$(NAME)` becomes the value, if there is one; `$$` becomes `$`. */
export function expand(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$\$|\$\(([^()]*)\)/g, (match, name: string | undefined) => {
    if (match === '$$') return '$';
    return name !== undefined && Object.hasOwn(values, name) ? (values[name] ?? '') : match;
  });
}

function addSources(facts: EnvironmentFacts, values: Record<string, string>): string | undefined {
  for (const source of facts.container.envFrom ?? []) {
    const found = dataOf(facts, source);
    if (typeof found === 'string') return found;
    for (const [key, value] of Object.entries(found)) values[(source.prefix ?? '') + key] = value;
  }
  return undefined;
}

/** The whole of a map or secret, or why it cannot be had. */
function dataOf(
  { data, pod }: EnvironmentFacts,
  { configMapRef, secretRef }: EnvFromSource,
): Readonly<Record<string, string>> | string {
  const { name = '', optional } = configMapRef ?? secretRef ?? {};
  const found = configMapRef ? data.configMap(name) : data.secret(name);
  if (found || optional) return found ?? {};
  const kind = configMapRef ? 'configmap' : 'secret';
  return `${kind} ${JSON.stringify(name)} not found in namespace ${pod.metadata.namespace}`;
}

function addVariables(facts: EnvironmentFacts, values: Record<string, string>): string | undefined {
  for (const variable of facts.container.env ?? []) {
    const found = variable.valueFrom
      ? valueFrom(facts, variable)
      : { value: expand(variable.value ?? '', values) };
    if ('problem' in found) return found.problem;
    if (found.value !== undefined) values[variable.name] = found.value;
  }
  return undefined;
}

type Found = { readonly value: string | undefined } | { readonly problem: string };

function valueFrom(facts: EnvironmentFacts, { name, valueFrom: source = {} }: EnvVar): Found {
  const { configMapKeyRef, secretKeyRef, fieldRef, fileKeyRef, resourceFieldRef } = source;
  if (configMapKeyRef) return keyOf(facts, 'configmap', configMapKeyRef);
  if (secretKeyRef) return keyOf(facts, 'secret', secretKeyRef);
  if (fieldRef) return { value: fieldOf(facts, fieldRef.fieldPath) };
  if (resourceFieldRef) return { value: resourceOf(facts, resourceFieldRef) };
  if (fileKeyRef && !fileKeyRef.optional)
    return {
      problem: `${name} comes from a file, which is not read here: use configMapKeyRef or secretKeyRef`,
    };
  return { value: undefined };
}

function keyOf(
  { data, pod }: EnvironmentFacts,
  kind: 'configmap' | 'secret',
  {
    name = '',
    key,
    optional = false,
  }: { readonly name?: string; readonly key: string; readonly optional?: boolean },
): Found {
  const found = kind === 'configmap' ? data.configMap(name) : data.secret(name);
  const value = found?.[key];
  if (value !== undefined || optional) return { value };
  const { namespace = '' } = pod.metadata;
  return {
    problem: found
      ? `couldn't find key ${key} in ${kind === 'configmap' ? 'ConfigMap' : 'Secret'} ${namespace}/${name}`
      : `${kind} ${JSON.stringify(name)} not found`,
  };
}

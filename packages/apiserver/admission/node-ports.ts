import { type FieldError, invalid } from '@sheaf/api';
import { internalError, type JsonObject } from '@sheaf/base';
import { flagAt, integerAt, objectsAt, textAt } from './object-field.ts';

/** Gives out ports of every node. Both answer a text if it cannot be done. */
export interface PortSource {
  take(port: number): string | undefined;
  /** @throws StatusError 500 when all are taken */
  takeAny(): number;
}

/** Whether a Service of this type has ports on the nodes. */
export function usesNodePorts(spec: JsonObject): boolean {
  return ['NodePort', 'LoadBalancer'].includes(textAt(spec, 'type'));
}

function givesPorts(spec: JsonObject): boolean {
  const type = textAt(spec, 'type');
  return (
    type === 'NodePort' ||
    (type === 'LoadBalancer' && flagAt(spec, 'allocateLoadBalancerNodePorts') !== false)
  );
}

function needsHealthPort(spec: JsonObject): boolean {
  return textAt(spec, 'type') === 'LoadBalancer' && textAt(spec, 'externalTrafficPolicy') === 'Local';
}

/** What was given out before and is not spoken of stays as it is; what does not fit the new type goes. */
export function keepNodePorts(spec: JsonObject, old: JsonObject): void {
  if (givesPorts(old) && givesPorts(spec)) keepByName(spec, old);
  else if (usesNodePorts(old) && !usesNodePorts(spec)) dropOldPorts(spec, old);
  const health = integerAt(old, 'healthCheckNodePort');
  if (!needsHealthPort(old) || health === 0) return;
  if (!needsHealthPort(spec)) {
    if (spec['healthCheckNodePort'] === health) delete spec['healthCheckNodePort'];
  } else if (integerAt(spec, 'healthCheckNodePort') === 0) spec['healthCheckNodePort'] = health;
}

function keepByName(spec: JsonObject, old: JsonObject): void {
  const ports = objectsAt(spec, 'ports');
  const before = new Map(
    objectsAt(old, 'ports').map((port) => [textAt(port, 'name'), integerAt(port, 'nodePort')]),
  );
  const inUse = new Set(ports.map((port) => integerAt(port, 'nodePort')));
  for (const port of ports) {
    const known = before.get(textAt(port, 'name')) ?? 0;
    if (integerAt(port, 'nodePort') === 0 && known !== 0 && !inUse.has(known)) port['nodePort'] = known;
  }
}

function dropOldPorts(spec: JsonObject, old: JsonObject): void {
  const before = new Set(objectsAt(old, 'ports').map((port) => integerAt(port, 'nodePort')));
  const ports = objectsAt(spec, 'ports');
  if (!ports.every((port) => before.has(integerAt(port, 'nodePort')) || integerAt(port, 'nodePort') === 0))
    return;
  for (const port of ports) delete port['nodePort'];
}

/** Gives every port of a new Service its node port. Ports of one number and several protocols share one. */
export function giveNodePorts(spec: JsonObject, source: PortSource): readonly FieldError[] {
  if (!usesNodePorts(spec)) return [];
  const ports = objectsAt(spec, 'ports');
  const given = new Map<number, number>();
  for (const [index, port] of ports.entries()) {
    const own = integerAt(port, 'nodePort');
    if (own === 0 && !givesPorts(spec)) continue;
    const fault = giveNodePort(port, { ports, given, source });
    if (fault) return [invalid(`spec.ports[${index}].nodePort`, fault.port, fault.text)];
  }
  return giveHealthPort(spec, source);
}

interface Giving {
  readonly ports: readonly JsonObject[];
  /** Node ports by number of the Service's port. */
  readonly given: Map<number, number>;
  readonly source: PortSource;
}

function giveNodePort(
  port: JsonObject,
  { ports, given, source }: Giving,
): { readonly port: number; readonly text: string } | undefined {
  const number = integerAt(port, 'port');
  const own = integerAt(port, 'nodePort');
  const shared = given.get(number);
  const wanted = shared === undefined ? own || askedFor(ports, number) : own;
  if (shared !== undefined && (own === 0 || own === shared)) {
    port['nodePort'] = shared;
    return undefined;
  }
  if (wanted === 0) {
    port['nodePort'] = source.takeAny();
  } else {
    const text = source.take(wanted);
    if (text) return { port: wanted, text };
    port['nodePort'] = wanted;
  }
  if (shared === undefined) given.set(number, integerAt(port, 'nodePort'));
  return undefined;
}

/** The node port that a later entry with the same number asks for. */
function askedFor(ports: readonly JsonObject[], number: number): number {
  for (const port of ports) {
    const nodePort = integerAt(port, 'nodePort');
    if (integerAt(port, 'port') === number && nodePort !== 0) return nodePort;
  }
  return 0;
}

/** The same for a changed Service: what it has is its own, what is new is taken. */
export function changeNodePorts(
  spec: JsonObject,
  old: JsonObject,
  source: PortSource,
): readonly FieldError[] {
  if (!usesNodePorts(spec)) return [];
  const own = new Set(objectsAt(old, 'ports').map((port) => integerAt(port, 'nodePort')));
  for (const [index, port] of objectsAt(spec, 'ports').entries()) {
    const wanted = integerAt(port, 'nodePort');
    if (wanted === 0) {
      if (givesPorts(spec)) port['nodePort'] = source.takeAny();
      continue;
    }
    if (own.has(wanted)) continue;
    const text = source.take(wanted);
    if (text) return [invalid(`spec.ports[${index}].nodePort`, wanted, text)];
    own.add(wanted);
  }
  return needsHealthPort(old) ? [] : giveHealthPort(spec, source);
}

function giveHealthPort(spec: JsonObject, source: PortSource): readonly FieldError[] {
  if (!needsHealthPort(spec)) return [];
  const wanted = integerAt(spec, 'healthCheckNodePort');
  if (wanted === 0) {
    spec['healthCheckNodePort'] = source.takeAny();
    return [];
  }
  const text = source.take(wanted);
  if (text) throw internalError(`failed to allocate requested HealthCheck NodePort ${wanted}: ${text}`);
  return [];
}

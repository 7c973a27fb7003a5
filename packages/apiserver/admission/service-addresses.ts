import { asJson, type FieldError, invalid, invalidObject, type KubeObject } from '@sheaf/api';
import { internalError, type JsonObject, type Random } from '@sheaf/base';
import type { LiveView, LiveViews } from '../storage/live-view.ts';
import { changeNodePorts, giveNodePorts, keepNodePorts, type PortSource } from './node-ports.ts';
import { findFree, type Pool, reservedOf } from './number-pool.ts';
import { ensureObject, objectAt, textAt, textsAt } from './object-field.ts';
import type { AdmissionPlugin, AdmissionRequest } from './plugin.ts';
import { isFor } from './refusal.ts';
import { ServiceClaims } from './service-claims.ts';
import { completeFamilies, isSame } from './service-families.ts';
import { type Subnet, subnetOf } from './subnet.ts';

export interface ServiceAddressOptions {
  readonly views: LiveViews;
  readonly random: Random;
  /** IPv4, e.g. 10.43.0.0/16. */
  readonly serviceSubnet: string;
  /** First and last. */
  readonly nodePorts: readonly [number, number];
}

interface Ranges {
  readonly claims: ServiceClaims;
  /** IPAddress objects. */
  readonly registered: LiveView;
  readonly subnet: Subnet;
  readonly addresses: Pool;
  readonly ports: Pool;
  readonly firstPort: number;
  readonly lastPort: number;
  readonly random: Random;
}

const served = ['IPv4'];
const managedLabel = 'ipaddress.kubernetes.io/managed-by';
const services = { group: '', resource: 'services' };

/** Gives Services their cluster addresses and node ports, each to one Service. */
export function serviceAddresses(options: ServiceAddressOptions): AdmissionPlugin {
  const ranges = rangesOf(options);
  return {
    name: 'ServiceAddresses',
    handles: (request) =>
      request.object !== undefined &&
      (request.operation === 'CREATE' || request.operation === 'UPDATE') &&
      isFor(request, services),
    allocate(request) {
      if (!request.object) return;
      const errors = allocate(request, request.object, ranges);
      if (errors.length === 0) return;
      throw invalidObject({ kind: 'Service', group: '', name: request.object.metadata.name ?? '' }, errors);
    },
  };
}

function rangesOf({ views, random, serviceSubnet, nodePorts }: ServiceAddressOptions): Ranges {
  const claims = new ServiceClaims(views.of('', 'services'));
  const subnet = subnetOf(serviceSubnet);
  const [firstPort, lastPort] = nodePorts;
  const size = lastPort - firstPort + 1;
  const registered = views.of('networking.k8s.io', 'ipaddresses');
  const isTaken = (key: string): boolean => claims.has(key);
  return {
    claims,
    registered,
    subnet,
    random,
    firstPort,
    lastPort,
    addresses: {
      size: subnet.size,
      reserved: reservedOf(subnet.size + 2, 16, 256),
      keyOf: (index) => subnet.addressAt(index),
      isTaken: (key) => isTaken(key) || isForeign(key, registered),
    },
    ports: {
      size,
      reserved: reservedOf(size, 32, 128),
      keyOf: (index) => String(firstPort + index),
      isTaken,
    },
  };
}

function allocate(request: AdmissionRequest, service: KubeObject, ranges: Ranges): readonly FieldError[] {
  const spec = ensureObject(asJson(service), 'spec');
  const old = request.oldObject && objectAt(request.oldObject, 'spec');
  if (old) keepAllocated(spec, old);
  else if (textAt(spec, 'clusterIP') !== '' && textsAt(spec, 'clusterIPs').length === 0)
    spec['clusterIPs'] = [textAt(spec, 'clusterIP')];
  const errors = completeFamilies(spec, old, served);
  if (errors.length > 0) return errors;
  const addressErrors = needsAddress(spec, old) ? giveAddress(request, spec, ranges) : [];
  if (addressErrors.length > 0) return addressErrors;
  const source = portSource(request, ranges);
  return old ? changeNodePorts(spec, old, source) : giveNodePorts(spec, source);
}

/** What a client leaves out of a change stays as it was given, as far as the type still has it. */
function keepAllocated(spec: JsonObject, old: JsonObject): void {
  if (hasAddress(old) && hasAddress(spec)) keepAddress(spec, old);
  else if (hasAddress(old) && textAt(spec, 'clusterIP') === textAt(old, 'clusterIP')) dropAddress(spec, old);
  keepNodePorts(spec, old);
  if (textAt(spec, 'clusterIP') !== textAt(old, 'clusterIP') && isSame(spec, old, 'clusterIPs')) {
    const single = textAt(spec, 'clusterIP');
    if (single === '') delete spec['clusterIPs'];
    else spec['clusterIPs'] = [single];
  }
}

function hasAddress(spec: JsonObject): boolean {
  return textAt(spec, 'type') !== 'ExternalName';
}

function keepAddress(spec: JsonObject, old: JsonObject): void {
  const single = textAt(old, 'clusterIP');
  if (textAt(spec, 'clusterIP') === '' && single !== '') spec['clusterIP'] = single;
  const all = textsAt(old, 'clusterIPs');
  if (textsAt(spec, 'clusterIPs').length === 0 && all.length > 0) spec['clusterIPs'] = [...all];
}

/** The new type has no addresses; what only the server had filled in goes with them. */
function dropAddress(spec: JsonObject, old: JsonObject): void {
  delete spec['clusterIP'];
  if (isSame(spec, old, 'clusterIPs')) delete spec['clusterIPs'];
  if (isSame(spec, old, 'ipFamilies')) delete spec['ipFamilies'];
  if (spec['ipFamilyPolicy'] === old['ipFamilyPolicy']) delete spec['ipFamilyPolicy'];
}

/** A Service has its addresses for life; it gets them when it is made, or when it stops being a mere name. */
function needsAddress(spec: JsonObject, old: JsonObject | undefined): boolean {
  if (!hasAddress(spec) || textAt(spec, 'clusterIP') === 'None') return false;
  return !old || !hasAddress(old);
}

function giveAddress(request: AdmissionRequest, spec: JsonObject, ranges: Ranges): readonly FieldError[] {
  const wanted = textsAt(spec, 'clusterIPs')[0] ?? '';
  const fault = wanted === '' ? undefined : addressFault(wanted, ranges);
  if (fault) {
    const detail = `failed to allocate IP ${wanted}: ${fault}`;
    return [invalid('spec.clusterIPs', textsAt(spec, 'clusterIPs'), detail)];
  }
  const address = wanted || findFree(ranges.addresses, ranges.random);
  if (!address) {
    const name = request.object?.metadata.name ?? '';
    throw internalError(`failed to allocate a serviceIP for Service ${JSON.stringify(name)}: range is full`);
  }
  reserve(request, address, ranges);
  spec['clusterIP'] = address;
  spec['clusterIPs'] = [address];
  return [];
}

/** Someone other than a Service has it. IPAddresses of Services follow them, and decide nothing. */
function isForeign(address: string, registered: LiveView): boolean {
  const object = registered.get('', address);
  return object !== undefined && object.metadata.labels?.[managedLabel] !== 'ipallocator.k8s.io';
}

function addressFault(address: string, { subnet, claims, registered }: Ranges): string | undefined {
  switch (subnet.placeOf(address)) {
    case 'outside':
      return 'the provided network does not match the current range';
    case 'edge':
      return `the provided IP (${address}) is not in the valid range. The range of valid IPs is ${subnet.text}`;
    case 'inside':
      return claims.has(address) || isForeign(address, registered)
        ? 'provided IP is already allocated'
        : undefined;
  }
}

/** Until the write is done nobody else gets it; a rehearsal keeps nothing from anybody. */
function reserve(request: AdmissionRequest, key: string, { claims }: Ranges): void {
  if (!request.dryRun) request.onEnd(claims.reserve(key));
}

function portSource(request: AdmissionRequest, ranges: Ranges): PortSource {
  const { claims, ports, firstPort, lastPort, random } = ranges;
  // A rehearsal does not reserve; its own ports must differ all the same.
  const own = new Set<string>();
  const isTaken = (key: string): boolean => own.has(key) || claims.has(key);
  const hold = (key: string): void => {
    own.add(key);
    reserve(request, key, ranges);
  };
  return {
    take(port) {
      if (port < firstPort || port > lastPort)
        return `provided port is not in the valid range. The range of valid ports is ${firstPort}-${lastPort}`;
      if (isTaken(String(port))) return 'provided port is already allocated';
      hold(String(port));
      return undefined;
    },
    takeAny() {
      const key = findFree({ ...ports, isTaken }, random);
      if (key === undefined) throw internalError('failed to allocate a nodePort: range is full');
      hold(key);
      return Number(key);
    },
  };
}

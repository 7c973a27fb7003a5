import type { Waiting } from '@sheaf/api';
import type { NetworkAttachmentDefinition } from '@sheaf/api/virtualization/index';
import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import type { NetworkSpec } from './instance-spec.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

/** What network cards can be plugged into on this node. */
export interface NetworkSources {
  readonly findDefinition: (key: string) => NetworkAttachmentDefinition | undefined;
  readonly hasBridge: (name: string) => boolean;
}

/** The bridge of the host behind a network, or why there is none. */
export type NicPlug = { readonly bridge: string } | { readonly waiting: Waiting };

/** By the name of the network in the spec; networks that need no bridge are not in it. */
export type NetworkPlugs = ReadonlyMap<string, NicPlug>;

/** Finds the bridges of all networks that an instance names. */
export function planPlugs({ metadata, spec }: VirtualMachineInstance, sources: NetworkSources): NetworkPlugs {
  const { namespace = '' } = metadata;
  const plugs = (spec.networks ?? []).flatMap((network): (readonly [string, NicPlug])[] => {
    const key = definitionKeyOf(network, namespace);
    return key === undefined ? [] : [[network.name, plugOf(key, sources)]];
  });
  return new Map(plugs);
}

/** The first network that cannot be had now. */
export function waitingNetworkOf(plugs: NetworkPlugs): Waiting | undefined {
  return [...plugs.values()].flatMap((plug) => ('waiting' in plug ? [plug.waiting] : []))[0];
}

export function bridgesOf(plugs: NetworkPlugs): ReadonlyMap<string, { readonly bridge: string }> {
  return new Map(
    [...plugs].flatMap(([name, plug]) =>
      'bridge' in plug ? [[name, { bridge: plug.bridge }] as const] : [],
    ),
  );
}

/** `NAMESPACE/NAME` of the definition behind a network; one without a namespace is in that of the instance. */
function definitionKeyOf({ multus }: NetworkSpec, namespace: string): string | undefined {
  if (!multus) return undefined;
  return multus.networkName.includes('/') ? multus.networkName : `${namespace}/${multus.networkName}`;
}

function plugOf(key: string, { findDefinition, hasBridge }: NetworkSources): NicPlug {
  const [namespace = '', name = ''] = key.split('/');
  const object = { kind: 'NetworkAttachmentDefinition', namespace, name };
  const definition = findDefinition(key);
  if (!definition)
    return {
      waiting: {
        reason: 'NetworkNotFound',
        text: `Network ${key} is not there`,
        nature: 'transient',
        wayOut: 'create the NetworkAttachmentDefinition, or choose another network',
        object,
      },
    };
  const config = configOf(definition.spec?.config);
  const fault = faultOf(key, config);
  if (fault) return { waiting: { ...fault, nature: 'fault', object } };
  const bridge = textOf(config?.['bridge']);
  if (hasBridge(bridge)) return { bridge };
  return {
    waiting: {
      reason: 'BridgeNotFound',
      text: `Network ${key} is on bridge ${bridge}, which this node does not have`,
      nature: 'fault',
      wayOut: `make the bridge on the host: ip link add ${bridge} type bridge && ip link set ${bridge} up`,
      object,
    },
  };
}

function faultOf(
  key: string,
  config: JsonObject | undefined,
): Pick<Waiting, 'reason' | 'text' | 'wayOut'> | undefined {
  const wayOut = 'give it a spec.config such as {"cniVersion":"0.3.1","type":"bridge","bridge":"br0"}';
  const reason = 'NetworkUnsupported';
  if (!config) return { reason, text: `The configuration of network ${key} is no JSON object`, wayOut };
  const type = textOf(config['type']);
  if (type !== 'bridge')
    return {
      reason,
      text: `Network ${key} is of type ${JSON.stringify(type)}; machines join bridges`,
      wayOut,
    };
  if (textOf(config['bridge']) === '') return { reason, text: `Network ${key} names no bridge`, wayOut };
  const vlan = config['vlan'] ?? 0;
  if (vlan === 0) return undefined;
  return {
    reason,
    text: `Network ${key} has the VLAN ${JSON.stringify(vlan)}, and frames of machines are not tagged here`,
    wayOut: 'make a bridge on the VLAN interface of the host, and name it without a vlan',
  };
}

function configOf(text: string | undefined): JsonObject | undefined {
  try {
    const config = JSON.parse(text ?? '') as JsonValue;
    return isJsonObject(config) ? config : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

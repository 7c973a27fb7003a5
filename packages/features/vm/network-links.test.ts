import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bridgesOf, type NetworkPlugs, planPlugs, waitingNetworkOf } from './network-links.ts';
import type { VirtualMachineInstance } from './virtual-machine.ts';

const instance: VirtualMachineInstance = {
  metadata: { namespace: 'default', name: 'a' },
  spec: {
    domain: { devices: {} },
    networks: [
      { name: 'pods', pod: {} },
      { name: 'own', multus: { networkName: 'lan' } },
      { name: 'other', multus: { networkName: 'infra/lan' } },
    ],
  },
};

function plugsWith(configs: Readonly<Record<string, string>>, bridges: readonly string[]): NetworkPlugs {
  return planPlugs(instance, {
    findDefinition: (key) => {
      const config = configs[key];
      return config === undefined ? undefined : { metadata: {}, spec: { config } };
    },
    hasBridge: (name) => bridges.includes(name),
  });
}

const lan = '{"cniVersion":"0.3.1","type":"bridge","bridge":"br0","vlan":0}';

describe('networks of a machine', () => {
  it('are the bridges of their definitions, in its own namespace or the one that is named', () => {
    const configs = { 'default/lan': lan, 'infra/lan': '{"type":"bridge","bridge":"br1"}' };
    const plugs = plugsWith(configs, ['br0', 'br1']);
    assert.equal(waitingNetworkOf(plugs), undefined);
    assert.deepEqual(
      bridgesOf(plugs),
      new Map([
        ['own', { bridge: 'br0' }],
        ['other', { bridge: 'br1' }],
      ]),
    );
  });

  const faults: readonly (readonly [string, string | undefined, string, RegExp])[] = [
    ['no definition', undefined, 'NetworkNotFound', /create the NetworkAttachmentDefinition/],
    ['no bridge', lan, 'BridgeNotFound', /ip link add br0 type bridge/],
    ['no JSON', '{', 'NetworkUnsupported', /spec.config/],
    ['no object', '[]', 'NetworkUnsupported', /spec.config/],
    ['another type', '{"type":"macvlan"}', 'NetworkUnsupported', /spec.config/],
    ['no name of a bridge', '{"type":"bridge"}', 'NetworkUnsupported', /spec.config/],
    ['a VLAN', '{"type":"bridge","bridge":"br0","vlan":7}', 'NetworkUnsupported', /VLAN interface/],
  ];
  for (const [name, config, reason, wayOut] of faults)
    it(`are waited for, with a way out: ${name}`, () => {
      const waiting = waitingNetworkOf(plugsWith(config === undefined ? {} : { 'default/lan': config }, []));
      assert.deepEqual([waiting?.reason, waiting?.object?.name], [reason, 'lan']);
      // What someone must do is shown; a definition that is not there is told by its own link of the chain.
      assert.equal(waiting?.nature, reason === 'NetworkNotFound' ? 'transient' : 'fault');
      assert.match(waiting?.wayOut ?? '', wayOut);
    });
});

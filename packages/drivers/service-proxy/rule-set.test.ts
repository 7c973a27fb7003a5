import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProxiedService } from '@sheaf/ports';
import { chainNames } from './chain-names.ts';
import { type RuleContext, type RuleSet, ruleSet } from './rule-set.ts';
import { ownPart, ruleText } from './rule-text.ts';

const chains = chainNames('0123456789');
const context: RuleContext = {
  chains,
  bridgeName: 'shp0123456789',
  podSubnet: '10.42.0.0/24',
  serviceNetwork: '10.43.0.0/16',
  isBridgeFiltered: true,
  hasAffinity: true,
};

function service(addresses: readonly string[], more: Partial<ProxiedService> = {}): ProxiedService {
  const backends = addresses.map((address) => ({ address, port: 8080 }));
  return {
    id: 'default/web',
    addresses: ['10.43.0.5'],
    externalAddresses: [],
    ports: [{ protocol: 'TCP', port: 80, backends, outsideBackends: backends }],
    ...more,
  };
}

function wordsOf({ rules }: RuleSet, chain: string): readonly string[] {
  return rules.filter((rule) => rule.chain === chain).map(({ words }) => words);
}

describe('ruleSet', () => {
  it('gives each backend the same chance', () => {
    const set = ruleSet([service(['10.42.0.2', '10.42.0.3', '10.42.0.4'])], context);
    const target =
      set.rules
        .find(({ chain }) => chain === chains.inside)
        ?.words.split(' ')
        .at(-1) ?? '';
    assert.deepEqual(wordsOf(set, target), [
      '-p tcp -m statistic --mode random --probability 0.3333333333 -j DNAT --to-destination 10.42.0.2:8080',
      '-p tcp -m statistic --mode random --probability 0.5000000000 -j DNAT --to-destination 10.42.0.3:8080',
      '-p tcp -j DNAT --to-destination 10.42.0.4:8080',
    ]);
    assert.ok(set.rules.every(({ chain }) => chain.length <= 28));
  });

  it('remembers clients only where there is a choice, and the kernel can', () => {
    const words = (addresses: readonly string[], hasAffinity: boolean): string =>
      JSON.stringify(ruleSet([service(addresses, { affinitySeconds: 60 })], { ...context, hasAffinity }));
    assert.match(words(['10.42.0.2', '10.42.0.3'], true), /--rcheck --seconds 60 .*--set/);
    assert.doesNotMatch(words(['10.42.0.2', '10.42.0.3'], false), /recent/);
    assert.doesNotMatch(words(['10.42.0.2'], true), /recent/);
  });

  it('leads answers back: of a pod to itself, of what is elsewhere, of neighbours where the bridge is not filtered', () => {
    const services = [service(['10.42.0.2', '192.0.2.7'])];
    assert.deepEqual(wordsOf(ruleSet(services, context), chains.masquerade), [
      '-s 127.0.0.0/8 -o shp0123456789 -j MASQUERADE',
      '-s 10.42.0.2/32 -d 10.42.0.2/32 -j MASQUERADE',
      '-d 192.0.2.7/32 -p tcp --dport 8080 -m conntrack --ctstate DNAT -j MASQUERADE',
    ]);
    assert.deepEqual(wordsOf(ruleSet(services, { ...context, isBridgeFiltered: false }), chains.masquerade), [
      '-s 127.0.0.0/8 -o shp0123456789 -j MASQUERADE',
      '-s 10.42.0.0/24 -d 10.42.0.0/24 -m conntrack --ctstate DNAT -j MASQUERADE',
      '-d 192.0.2.7/32 -p tcp --dport 8080 -m conntrack --ctstate DNAT -j MASQUERADE',
    ]);
  });
});

describe('ruleText', () => {
  const wanted = ruleSet([service(['10.42.0.2'])], context);
  const others = [
    ':PREROUTING ACCEPT',
    ':SHEAF-9876543210-INSIDE -',
    '-A PREROUTING -j SHEAF-9876543210-INSIDE',
  ];

  it('makes what is missing, leaves others alone and tells whose line is whose', () => {
    const { text, lines } = ruleText(wanted, { nat: others, filter: [] }, chains);
    assert.doesNotMatch(text, /9876543210/);
    const all = text.split('\n');
    assert.equal(
      all.filter((line) => /^-[AI] (PREROUTING|OUTPUT|POSTROUTING|INPUT|FORWARD) /.test(line)).length,
      10,
    );
    for (const [line, { chain, words }] of lines) assert.equal(all[line - 1], `-A ${chain} ${words}`);
  });

  it('takes away what is not wanted any more, and makes no jump twice', () => {
    const jump = `-A PREROUTING -i shp0123456789 -j ${chains.inside}`;
    const saved = {
      nat: [
        ...others,
        `:${chains.inside} -`,
        `:${chains.prefix}OLD -`,
        jump,
        `-A OUTPUT -j ${chains.prefix}OLD`,
      ],
      filter: [],
    };
    const { text } = ruleText(wanted, saved, chains);
    assert.doesNotMatch(text, /-I PREROUTING -i/);
    assert.match(text, new RegExp(`^-D OUTPUT -j ${chains.prefix}OLD$`, 'm'));
    assert.match(text, new RegExp(`^:${chains.prefix}OLD - .*\n(.*\n)*-X ${chains.prefix}OLD\nCOMMIT$`, 'm'));
    assert.equal(ownPart(saved, chains).split('\n').length, 4);
    const nothing = ruleText({ jumps: [], rules: [] }, saved, chains).text;
    assert.match(nothing, new RegExp(`^-D PREROUTING -i shp0123456789 -j ${chains.inside}$`, 'm'));
    assert.match(nothing, new RegExp(`^-X ${chains.inside}$`, 'm'));
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Setting } from '@sheaf/api/virtualization/index';
import { pinsOf } from './pins.ts';
import { hashAnnotation, planSetting, type SettingFacts } from './plan.ts';
import { type SettingDefinition, settingTable } from './setting-table.ts';

const now = '2026-01-01T00:00:00Z';
const later = '2026-01-01T00:01:00Z';
const read: SettingDefinition = {
  name: 'a',
  default: 'one',
  use: { kind: 'read', effect: 'machines go by it' },
};
const kept: SettingDefinition = { name: 'a', default: 'one', use: { kind: 'kept', capability: 'flying' } };

function planned(observed: Setting | undefined, facts: Partial<SettingFacts>): Setting {
  const step = planSetting(observed, { definition: read, now, ...facts });
  assert.notEqual(step.action, 'none');
  return step.action === 'none' ? { metadata: {} } : step.object;
}

function conditionOf(setting: Setting, type: string): readonly unknown[] {
  const found = setting.status?.conditions?.find((condition) => condition.type === type);
  return [found?.status, found?.reason, found?.message, found?.lastUpdateTime];
}

describe('planSetting', () => {
  it('makes a missing one whole, once', () => {
    const made = planned(undefined, {});
    assert.deepEqual(made, {
      metadata: { name: 'a' },
      default: 'one',
      status: {
        conditions: [
          {
            type: 'Effective',
            status: 'True',
            reason: 'Read',
            message: 'machines go by it',
            lastUpdateTime: now,
          },
        ],
      },
    });
    assert.deepEqual(planSetting(made, { definition: read, now: later }), { action: 'none' });
  });

  it('fills in the default of one that was installed with a value alone, and acts on the value', () => {
    const made = planned({ metadata: { name: 'a' }, value: 'two' }, {});
    assert.deepEqual([made.value, made.default, made.source], ['two', 'one', undefined]);
    assert.deepEqual(conditionOf(made, 'configured'), ['True', '', '', now]);
    assert.equal(
      made.metadata.annotations?.[hashAnnotation],
      '1fe7b53e290b5d08cecb164538911b71c2f069f9c8eb0e23be313ae2',
    );
  });

  it('tells that a value has no effect, and for what it would be', () => {
    const made = planned({ metadata: { name: 'a' }, value: 'two' }, { definition: kept });
    const told = ['False', 'KeptForCompatibility', /does not have what it is for: flying$/] as const;
    for (const type of ['Effective', 'configured']) {
      const [status, reason, message] = conditionOf(made, type);
      assert.deepEqual([status, reason], told.slice(0, 2));
      assert.match(String(message), told[2]);
    }
  });

  it('looks again at a value that changed or was cleared, not at one that stays', () => {
    const first = planned({ metadata: { name: 'a' }, value: 'two' }, {});
    const second = planned({ ...first, value: 'three' }, { now: later });
    assert.notEqual(
      second.metadata.annotations?.[hashAnnotation],
      first.metadata.annotations?.[hashAnnotation],
    );
    const cleared = planned({ ...second, value: '' }, { now: later });
    assert.deepEqual(conditionOf(cleared, 'configured').slice(0, 3), ['False', '', '']);
    assert.deepEqual(planSetting(cleared, { definition: read, now: later }), { action: 'none' });
  });

  it('notes the empty value of those that are acted on at the start', () => {
    const made = planned(undefined, { definition: { ...read, isAppliedAtStart: true } });
    assert.equal(
      made.metadata.annotations?.[hashAnnotation],
      'd14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f',
    );
  });

  it('takes default and value from the environment, and gives the value free again', () => {
    const pin = { value: 'pinned', default: 'other' };
    const made = planned({ metadata: { name: 'a' }, value: 'mine', default: 'one' }, { pin });
    assert.deepEqual([made.value, made.default, made.source], ['pinned', 'other', 'env']);
    const free = planned(made, {});
    assert.deepEqual([free.value, free.default, free.source], ['pinned', 'one', '']);
  });

  it('does without a default that cannot be, and says why', () => {
    const made = planned(undefined, { pin: { value: 'pinned', defaultProblem: 'it is bad' } });
    assert.deepEqual([made.value, made.default], ['pinned', 'one']);
    assert.deepEqual(conditionOf(made, 'configured'), ['False', 'Refused', 'it is bad', now]);
  });

  it('does without a value that is refused, says why, and forgets it once it is not', () => {
    const pin = { value: 'bad' };
    const refused = planned(undefined, { pin, refusal: 'it is bad' });
    assert.deepEqual([refused.value, refused.source], [undefined, undefined]);
    assert.deepEqual(conditionOf(refused, 'configured'), ['False', 'Refused', 'it is bad', now]);
    assert.deepEqual(planSetting(refused, { definition: read, pin, refusal: 'it is bad', now: later }), {
      action: 'none',
    });
    assert.deepEqual(conditionOf(planned(refused, { pin, now: later }), 'configured'), [
      'True',
      '',
      '',
      later,
    ]);
    assert.deepEqual(conditionOf(planned(refused, { now: later }), 'configured').slice(0, 2), ['False', '']);
  });

  it('leaves one alone that is being deleted', () => {
    const gone = { metadata: { name: 'a', deletionTimestamp: now } };
    assert.deepEqual(planSetting(gone, { definition: read, now }), { action: 'none' });
  });
});

describe('the table of settings', () => {
  it('has each name once', () => {
    const names = settingTable.map(({ name }) => name);
    assert.equal(new Set(names).size, names.length);
  });

  for (const { name, default: text, rule } of settingTable)
    if (text !== '' && rule) it(`${name}: its default keeps to its rule`, () => void rule(text));
});

it('pins are variables with the names of settings', () => {
  const pins = pinsOf({
    HARVESTER_UI_SOURCE: 'bundled',
    HARVESTER_LOG_LEVEL_DEFAULT_VALUE: 'debug',
    HARVESTER_MAX_HOTPLUG_RATIO: '3',
    HARVESTER_MAX_HOTPLUG_RATIO_DEFAULT_VALUE: '21',
    HARVESTER_NTP_SERVERS: '',
    HARVESTER_UNKNOWN: 'x',
  });
  const defaultProblem =
    'the default that the variable HARVESTER_MAX_HOTPLUG_RATIO_DEFAULT_VALUE gives is not taken: 21 is out of range. Write a whole number from 1 to 20.';
  assert.deepEqual(
    [...pins],
    [
      ['log-level', { default: 'debug' }],
      ['max-hotplug-ratio', { value: '3', defaultProblem }],
      ['ui-source', { value: 'bundled' }],
    ],
  );
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  forceResetPolicy,
  maxHotplugRatio,
  memoryOverheadRatio,
  overcommitConfig,
  terminationGracePeriod,
} from './machine-settings.ts';
import { readSetting, type SettingFormat } from './setting-format.ts';
import { SettingProblem } from './setting-problem.ts';

const named = (value: string, fallback = '') => ({ metadata: {}, value, default: fallback });

describe('settings that others go by', () => {
  it('read the value, else the default, else what is built in', () => {
    assert.equal(readSetting(maxHotplugRatio, named('7', '5')), 7);
    assert.equal(readSetting(maxHotplugRatio, named('', '5')), 5);
    assert.equal(readSetting(maxHotplugRatio, undefined), 4);
  });

  it('never fail over what stands there', () => {
    assert.equal(readSetting(terminationGracePeriod, named('soon', '30')), 30);
    assert.equal(readSetting(terminationGracePeriod, named('soon', 'later')), 120);
  });

  it('have these defaults', () => {
    assert.deepEqual(
      [
        readSetting(overcommitConfig, undefined),
        readSetting(memoryOverheadRatio, undefined),
        readSetting(forceResetPolicy, undefined),
      ],
      [
        { cpu: 1000, memory: 150, storage: 100 },
        1.5,
        { enable: true, periodSeconds: 15, migrationTimeoutSeconds: 180 },
      ],
    );
  });

  it('take the time that is usual for no time to move', () => {
    const text = '{"enable":false,"period":1,"vmMigrationTimeout":0}';
    assert.deepEqual(forceResetPolicy.parse(text), {
      enable: false,
      periodSeconds: 1,
      migrationTimeoutSeconds: 180,
    });
  });

  const wrong: readonly (readonly [SettingFormat<unknown>, string, RegExp])[] = [
    [overcommitConfig, '{"cpu":99,"memory":100,"storage":100}', /cpu is 99 percent/],
    [overcommitConfig, '{"cpu":100,"memory":100}', /storage is 0 percent/],
    [overcommitConfig, '{"cpu":"100","memory":100,"storage":100}', /cpu is "100"/],
    [overcommitConfig, '[]', /not an object/],
    [overcommitConfig, '{', /no valid JSON/],
    [terminationGracePeriod, '-1', /out of range/],
    [terminationGracePeriod, '1.5', /no whole number/],
    [memoryOverheadRatio, '0.9', /out of range/],
    [memoryOverheadRatio, '10.1', /out of range/],
    [memoryOverheadRatio, 'NaN', /no number/],
    [maxHotplugRatio, '0', /out of range/],
    [maxHotplugRatio, '21', /out of range/],
    [forceResetPolicy, '{"enable":true,"period":0}', /period is 0/],
    [forceResetPolicy, '{"period":1,"vmMigrationTimeout":-1}', /vmMigrationTimeout is -1/],
  ];
  for (const [{ name, parse }, text, message] of wrong)
    it(`${name} cannot be ${text}`, () => {
      assert.throws(
        () => parse(text),
        (error) => {
          assert.ok(error instanceof SettingProblem && error.wayOut !== '');
          assert.match(error.message, message);
          return true;
        },
      );
    });

  it('take the ends of their ranges', () => {
    assert.deepEqual(
      [memoryOverheadRatio.parse('0'), memoryOverheadRatio.parse('1.0'), memoryOverheadRatio.parse('10')],
      [0, 1, 10],
    );
    assert.deepEqual([maxHotplugRatio.parse('1'), maxHotplugRatio.parse('20')], [1, 20]);
  });
});

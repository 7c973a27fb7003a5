import assert from 'node:assert/strict';
import { it } from 'node:test';
import { millisecondsOf } from './pulled-chart.ts';

it('reads how long a chart is waited for', () => {
  assert.deepEqual(
    ['90s', '5m', '1h30m', '1.5s', '250ms'].map(millisecondsOf),
    [90_000, 300_000, 5_400_000, 1500, 250],
  );
});

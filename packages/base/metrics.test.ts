import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { MetricsRegistry } from './metrics.ts';

describe('MetricsRegistry', () => {
  it('writes the text form, with escaped label values', () => {
    const metrics = new MetricsRegistry();
    const requests = metrics.counter({
      name: 'requests_total',
      help: 'All\nof "them".',
      labels: ['verb', 'path'],
    });
    requests.of('GET', '/').add();
    requests.of('GET', '/').add(2);
    requests.of('PUT', 'a"b\\c\nd').add();
    const duration = metrics.histogram({ name: 'seconds', help: 'h', labels: ['verb'], buckets: [0.1, 1] });
    for (const value of [0.05, 0.1, 0.5, 7]) duration.of('GET').observe(value);
    const depth = metrics.gauge({ name: 'depth', help: 'd' });
    metrics.onCollect(() => depth.of().set(4));
    assert.equal(
      metrics.text(),
      [
        '# HELP requests_total All\\nof "them".',
        '# TYPE requests_total counter',
        'requests_total{verb="GET",path="/"} 3',
        'requests_total{verb="PUT",path="a\\"b\\\\c\\nd"} 1',
        '# HELP seconds h',
        '# TYPE seconds histogram',
        'seconds_bucket{verb="GET",le="0.1"} 2',
        'seconds_bucket{verb="GET",le="1"} 3',
        'seconds_bucket{verb="GET",le="+Inf"} 4',
        'seconds_sum{verb="GET"} 7.65',
        'seconds_count{verb="GET"} 4',
        '# HELP depth d',
        '# TYPE depth gauge',
        'depth 4',
        '',
      ].join('\n'),
    );
  });

  it('a name is given once', () => {
    const metrics = new MetricsRegistry();
    metrics.gauge({ name: 'x', help: '' });
    assert.throws(() => metrics.counter({ name: 'x', help: '' }), /x already/);
  });

  it('label values that are names of object members are values like others', () => {
    const metrics = new MetricsRegistry();
    const family = metrics.counter({ name: 'x', help: '', labels: ['l'] });
    for (const value of ['__proto__', 'constructor', '']) family.of(value).add();
    assert.match(metrics.text(), /x\{l="__proto__"\} 1\nx\{l="constructor"\} 1\nx\{l=""\} 1/);
  });
});

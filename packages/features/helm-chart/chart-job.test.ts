import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { retryAnnotation } from '@sheaf/api/addon/index';
import { annotated, factsOf, withSpec } from './chart-facts.fixture.ts';
import { operationJob } from './chart-job.ts';
import type { ChartFacts } from './plan.ts';

describe('the order of an operation', () => {
  it('has the values in their order, those of the configuration last', () => {
    const full = withSpec({
      values: { b: 2 },
      valuesSecrets: [
        { name: 'more', keys: ['x', 'y'] },
        { name: 'other', keys: ['z'], ignoreUpdates: true },
      ],
      serverSide: 'auto',
      set: { on: 'true', text: 'a,b', count: 3 },
    });
    const config = {
      metadata: { name: 'web' },
      spec: {
        valuesContent: 'c: 3',
        failurePolicy: 'abort' as const,
        serverSide: 'true' as const,
        forceConflicts: true,
      },
    };
    const { spec } = operationJob(factsOf({ chart: full, config }), 'install').spec.template;
    const [helm] = spec.containers;
    assert.match(
      JSON.stringify(spec.volumes?.[0]?.projected),
      /000-HelmChart-ValuesContent.*001-HelmChart-Values\.yaml.*more.*002-HelmChart-ValuesSecret.*003.*other.*004.*values-1-000-HelmChartConfig-ValuesContent/,
    );
    assert.deepEqual(helm?.args, [
      'install',
      '--server-side=true',
      '--force-conflicts',
      '--version',
      '1.0.0',
      '--set',
      'count=3',
      '--set',
      'on=true',
      '--set-string',
      'text=a\\,b',
    ]);
    assert.ok(helm?.env?.some(({ name, value }) => name === 'FAILURE_POLICY' && value === 'abort'));
  });

  it('is another one for other values, content, secrets, limits and tries, and the same for a Secret whose updates are ignored', () => {
    const referred = (data: object, name = 'more') =>
      new Map([[`Secret/${name}`, { metadata: { name }, data }]]);
    const watched = withSpec({ valuesSecrets: [{ name: 'more', keys: ['x'] }] });
    const ignored = withSpec({ valuesSecrets: [{ name: 'more', keys: ['x'], ignoreUpdates: true }] });
    const hash = (facts: Partial<ChartFacts>): string =>
      JSON.stringify(operationJob(factsOf(facts), 'install').spec.template.metadata?.annotations);
    const hashes = [
      hash({}),
      hash({ chart: withSpec({ valuesContent: 'a: 2' }) }),
      hash({ chart: withSpec({ chartContent: 'H4s=' }) }),
      hash({ chart: withSpec({ backOffLimit: 5 }) }),
      hash({ chart: withSpec({ version: '2.0.0' }) }),
      hash({ chart: annotated(retryAnnotation, '1') }),
      hash({ config: { metadata: {}, spec: { valuesContent: 'b: 1' } } }),
      hash({ chart: watched, referred: referred({ x: 'MQ==' }) }),
      hash({ chart: watched, referred: referred({ x: 'Mg==' }) }),
    ];
    assert.equal(new Set(hashes).size, hashes.length);
    assert.equal(hash({ chart: watched, referred: referred({ x: 'MQ==', y: '' }) }), hashes.at(-2));
    assert.equal(
      hash({ chart: ignored, referred: referred({ x: 'MQ==' }) }),
      hash({ chart: ignored, referred: referred({ x: 'Mg==' }) }),
    );
  });
});

import type { KubeObject } from '@sheaf/api';
import type { ChartNeed } from '@sheaf/ports';
import type { OperationFacts } from './chart-job.ts';
import { namesOf } from './chart-names.ts';
import { setArguments } from './chart-order.ts';
import { valuesData, valuesSources } from './chart-values.ts';

/** What an installation works with, as texts. */
export function chartNeed({ chart: object, config, referred }: OperationFacts): ChartNeed {
  const { repo = '', chart = '', version = '', chartContent = '', set } = object.spec ?? {};
  const { name, targetNamespace } = namesOf(object);
  return {
    ...{ name, targetNamespace, repo, chart, version, content: chartContent },
    values: valueTexts({ chart: object, config, referred }),
    set: setArguments(set),
  };
}

/** In the order in which later ones override earlier ones. */
function valueTexts({ chart, config, referred }: OperationFacts): readonly string[] {
  const own = valuesData(chart, config);
  const { values } = namesOf(chart);
  return valuesSources(chart, config)
    .flatMap(({ secret: { name, items } }) => items.map((item) => ({ ...item, name })))
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .flatMap(
      ({ name, key }) => (name === values ? own[key] : secretText(referred.get(`Secret/${name}`), key)) ?? [],
    );
}

function secretText(secret: KubeObject | undefined, key: string): string | undefined {
  const data = (secret?.['data'] ?? {}) as Readonly<Record<string, string>>;
  const text = data[key];
  return text === undefined ? undefined : Buffer.from(text, 'base64').toString('utf8');
}

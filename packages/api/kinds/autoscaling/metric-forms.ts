import type { JsonObject, JsonValue } from '@sheaf/base';
import { fieldsAt, objectAt, textAt } from '../fields.ts';

/** Metrics of autoscaling/v2, and the forms that the annotations of autoscaling/v1 hold them in. */

type Form = (source: JsonObject) => JsonObject;

/** Only the fields that are given. */
function present(fields: JsonObject): JsonObject {
  const kept: JsonObject = {};
  for (const name in fields) if (fields[name] !== undefined) kept[name] = fields[name];
  return kept;
}

function identity(name: JsonValue | undefined, selector: JsonValue | undefined): JsonObject {
  return present({ name: name ?? '', selector });
}

const olderSpecs: Readonly<Record<string, Form>> = {
  resource: (source) => olderResource(source),
  containerResource: (source) => ({ ...olderResource(source), container: source['container'] ?? '' }),
  pods(source) {
    const [metric, target] = [fieldsAt(source, 'metric'), fieldsAt(source, 'target')];
    return present({
      metricName: metric['name'] ?? '',
      targetAverageValue: target['averageValue'] ?? '0',
      selector: metric['selector'],
    });
  },
  object(source) {
    const [metric, target] = [fieldsAt(source, 'metric'), fieldsAt(source, 'target')];
    return present({
      target: fieldsAt(source, 'describedObject'),
      metricName: metric['name'] ?? '',
      targetValue: target['value'] ?? '0',
      selector: metric['selector'],
      averageValue: target['averageValue'],
    });
  },
  external(source) {
    const [metric, target] = [fieldsAt(source, 'metric'), fieldsAt(source, 'target')];
    return present({
      metricName: metric['name'] ?? '',
      metricSelector: metric['selector'],
      targetValue: target['value'],
      targetAverageValue: target['averageValue'],
    });
  },
};

function olderResource(source: JsonObject): JsonObject {
  const target = fieldsAt(source, 'target');
  return present({
    name: source['name'] ?? '',
    targetAverageUtilization: target['averageUtilization'],
    targetAverageValue: target['averageValue'],
  });
}

const newerSpecs: Readonly<Record<string, Form>> = {
  resource: (source) => newerResource(source),
  containerResource: (source) => ({ ...newerResource(source), container: source['container'] ?? '' }),
  pods: (source) => ({
    metric: identity(source['metricName'], source['selector']),
    target: { type: 'AverageValue', averageValue: source['targetAverageValue'] ?? '0' },
  }),
  object(source) {
    const average = source['averageValue'];
    const value = source['targetValue'] ?? '0';
    const target =
      average === undefined
        ? { type: 'Value', value }
        : present({
            type: 'AverageValue',
            value: value === '0' ? undefined : value,
            averageValue: average,
          });
    return {
      describedObject: fieldsAt(source, 'target'),
      metric: identity(source['metricName'], source['selector']),
      target,
    };
  },
  external: (source) => ({
    metric: identity(source['metricName'], source['metricSelector']),
    target: present({
      type: source['targetValue'] === undefined ? 'AverageValue' : 'Value',
      value: source['targetValue'],
      averageValue: source['targetAverageValue'],
    }),
  }),
};

function newerResource(source: JsonObject): JsonObject {
  const utilization = source['targetAverageUtilization'];
  return {
    name: source['name'] ?? '',
    target: present({
      type: utilization === undefined ? 'AverageValue' : 'Utilization',
      averageUtilization: utilization,
      averageValue: source['targetAverageValue'],
    }),
  };
}

const olderStatuses: Readonly<Record<string, Form>> = {
  resource: (source) => olderResourceStatus(source),
  containerResource: (source) => ({
    ...olderResourceStatus(source),
    container: source['container'] ?? '',
  }),
  pods(source) {
    const metric = fieldsAt(source, 'metric');
    return present({
      metricName: metric['name'] ?? '',
      currentAverageValue: fieldsAt(source, 'current')['averageValue'] ?? '0',
      selector: metric['selector'],
    });
  },
  object(source) {
    const [metric, current] = [fieldsAt(source, 'metric'), fieldsAt(source, 'current')];
    return present({
      target: fieldsAt(source, 'describedObject'),
      metricName: metric['name'] ?? '',
      currentValue: current['value'] ?? '0',
      selector: metric['selector'],
      averageValue: current['averageValue'],
    });
  },
  external(source) {
    const [metric, current] = [fieldsAt(source, 'metric'), fieldsAt(source, 'current')];
    return present({
      metricName: metric['name'] ?? '',
      metricSelector: metric['selector'],
      currentValue: current['value'] ?? '0',
      currentAverageValue: current['averageValue'],
    });
  },
};

function olderResourceStatus(source: JsonObject): JsonObject {
  const current = fieldsAt(source, 'current');
  return present({
    name: source['name'] ?? '',
    currentAverageUtilization: current['averageUtilization'],
    currentAverageValue: current['averageValue'] ?? '0',
  });
}

const newerStatuses: Readonly<Record<string, Form>> = {
  resource: (source) => newerResourceStatus(source),
  containerResource: (source) => ({
    ...newerResourceStatus(source),
    container: source['container'] ?? '',
  }),
  pods: (source) => ({
    metric: identity(source['metricName'], source['selector']),
    current: { averageValue: source['currentAverageValue'] ?? '0' },
  }),
  object: (source) => ({
    metric: identity(source['metricName'], source['selector']),
    current: present({ value: source['currentValue'] ?? '0', averageValue: source['averageValue'] }),
    describedObject: fieldsAt(source, 'target'),
  }),
  external: (source) => ({
    metric: identity(source['metricName'], source['metricSelector']),
    current: present({ value: source['currentValue'] ?? '0', averageValue: source['currentAverageValue'] }),
  }),
};

function newerResourceStatus(source: JsonObject): JsonObject {
  return {
    name: source['name'] ?? '',
    current: present({
      averageValue: source['currentAverageValue'] ?? '0',
      averageUtilization: source['currentAverageUtilization'],
    }),
  };
}

function convert(metric: JsonObject, forms: Readonly<Record<string, Form>>): JsonObject {
  const converted: JsonObject = { type: textAt(metric, 'type') };
  for (const name in forms) {
    const source = objectAt(metric, name);
    if (source !== undefined) converted[name] = forms[name]?.(source);
  }
  return converted;
}

export function olderMetric(metric: JsonObject): JsonObject {
  return convert(metric, olderSpecs);
}

export function newerMetric(metric: JsonObject): JsonObject {
  return convert(metric, newerSpecs);
}

export function olderMetricStatus(metric: JsonObject): JsonObject {
  return convert(metric, olderStatuses);
}

export function newerMetricStatus(metric: JsonObject): JsonObject {
  return convert(metric, newerStatuses);
}

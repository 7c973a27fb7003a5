import {
  compareQuantities,
  formatQuantity,
  type JsonObject,
  type Quantity,
  quantityAsNumber,
  quantitySign,
} from '@sheaf/base';
import { objectAt } from './object-field.ts';
import { type Amounts, amountsOf } from './pod-resources.ts';

/** Something that a limit is about. */
export interface Measured {
  readonly type: 'Container' | 'Pod' | 'PersistentVolumeClaim';
  readonly requests: Amounts;
  /** `undefined` where there is no such thing: then only requests count. */
  readonly limits: Amounts | undefined;
}

/** What is wrong by one item of `spec.limits` of a LimitRange. */
export function limitErrors(limit: JsonObject, measured: Measured): readonly string[] {
  const check = (field: string, judge: Judge): readonly string[] =>
    [...amountsOf(objectAt(limit, field))].flatMap(([name, enforced]) => {
      const text = judge({ name, enforced, measured });
      return text === undefined ? [] : [text];
    });
  return [...check('min', judgeMin), ...check('max', judgeMax), ...check('maxLimitRequestRatio', judgeRatio)];
}

interface Rule {
  readonly name: string;
  readonly enforced: Quantity;
  readonly measured: Measured;
}

type Judge = (rule: Rule) => string | undefined;

function judgeMin({ name, enforced, measured }: Rule): string | undefined {
  const prefix = `minimum ${name} usage per ${measured.type} is ${formatQuantity(enforced)}`;
  const request = measured.requests.get(name);
  const limit = measured.limits?.get(name);
  if (!request) return `${prefix}.  No request is specified`;
  if (compareQuantities(request, enforced) < 0) return `${prefix}, but request is ${formatQuantity(request)}`;
  if (limit && compareQuantities(limit, enforced) < 0)
    return `${prefix}, but limit is ${formatQuantity(limit)}`;
  return undefined;
}

function judgeMax({ name, enforced, measured }: Rule): string | undefined {
  const prefix = `maximum ${name} usage per ${measured.type} is ${formatQuantity(enforced)}`;
  const request = measured.requests.get(name);
  if (measured.limits) {
    const limit = measured.limits.get(name);
    if (!limit) return `${prefix}.  No limit is specified`;
    if (compareQuantities(limit, enforced) > 0) return `${prefix}, but limit is ${formatQuantity(limit)}`;
  } else if (!request) return `${prefix}.  No request is specified`;
  if (request && compareQuantities(request, enforced) > 0)
    return `${prefix}, but request is ${formatQuantity(request)}`;
  return undefined;
}

function judgeRatio({ name, enforced, measured }: Rule): string | undefined {
  const prefix = `${name} max limit to request ratio per ${measured.type} is ${formatQuantity(enforced)}`;
  const request = measured.requests.get(name);
  const limit = measured.limits?.get(name);
  if (!request || quantitySign(request) === 0)
    return `${prefix}, but no request is specified or request is 0`;
  if (!limit || quantitySign(limit) === 0) return `${prefix}, but no limit is specified or limit is 0`;
  const ratio = quantityAsNumber(limit) / quantityAsNumber(request);
  return ratio > quantityAsNumber(enforced)
    ? `${prefix}, but provided ratio is ${ratio.toFixed(6)}`
    : undefined;
}

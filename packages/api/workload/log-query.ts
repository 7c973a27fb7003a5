import { badRequest } from '@sheaf/base';
import {
  type FieldError,
  forbiddenField,
  invalid,
  invalidObject,
  notSupported,
} from '../meta/field-error.ts';

/** The query of `pods/log`. */
export interface LogQuery {
  readonly isFollowed: boolean;
  /** Of the run before. */
  readonly isPrevious: boolean;
  readonly hasTimestamps: boolean;
  /** Each may be absent. */
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  readonly sinceSeconds: number | undefined;
  /** Milliseconds since 1970. */
  readonly sinceTime: number | undefined;
  /** Absent: both. */
  readonly stream: 'stdout' | 'stderr' | undefined;
}

const leastOf = { tailLines: 0, limitBytes: 1, sinceSeconds: 1 } as const;
const streams = { Stdout: 'stdout', Stderr: 'stderr', All: undefined } as const;

/** @throws StatusError 400 for what is no number or time, 422 for what cannot be */
export function readLogQuery(query: URLSearchParams, podName: string): LogQuery {
  const errors: FieldError[] = [];
  const number = (option: keyof typeof leastOf): number | undefined => {
    const value = numberOf(query, option);
    const least = leastOf[option];
    if (value !== undefined && value < least)
      errors.push(invalid(option, value, `must be greater than or equal to ${least}`));
    return value;
  };
  const options = {
    isFollowed: isSet(query, 'follow'),
    isPrevious: isSet(query, 'previous'),
    hasTimestamps: isSet(query, 'timestamps'),
    tailLines: number('tailLines'),
    limitBytes: number('limitBytes'),
    sinceSeconds: number('sinceSeconds'),
    sinceTime: timeOf(query, 'sinceTime'),
    stream: streamOf(query, errors),
  };
  if (options.sinceSeconds !== undefined && options.sinceTime !== undefined)
    errors.push(forbiddenField('', 'at most one of `sinceTime` or `sinceSeconds` may be specified'));
  if (options.stream && options.tailLines !== undefined)
    errors.push(forbiddenField('', '`tailLines` and specific `stream` are mutually exclusive for now'));
  if (errors.length > 0) throw invalidObject({ kind: 'PodLogOptions', group: '', name: podName }, errors);
  return options;
}

/** A word of the query that says yes: everything but its absence, `false` and `0`. */
export function isSet(query: URLSearchParams, option: string): boolean {
  const text = query.get(option);
  return text !== null && text.toLowerCase() !== 'false' && text !== '0';
}

function numberOf(query: URLSearchParams, option: string): number | undefined {
  const text = query.get(option) ?? '';
  if (text === '') return undefined;
  if (/^[+-]?\d{1,15}$/.test(text)) return Number(text);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
}

function timeOf(query: URLSearchParams, option: string): number | undefined {
  const text = query.get(option) ?? '';
  if (text === '') return undefined;
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text);
  const time = isWhole ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  throw badRequest(`${option}=${text} is no time: give one such as 2026-01-02T15:04:05Z`);
}

function streamOf(query: URLSearchParams, errors: FieldError[]): 'stdout' | 'stderr' | undefined {
  const text = query.get('stream') ?? '';
  if (text === '') return undefined;
  if (Object.hasOwn(streams, text)) return streams[text as keyof typeof streams];
  errors.push(notSupported('stream', text, Object.keys(streams).toSorted()));
  return undefined;
}

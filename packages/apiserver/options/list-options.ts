import { type FieldError, forbiddenField, invalidObject, notSupported } from '@sheaf/api';
import { badRequest } from '@sheaf/base';
import { isTrue } from './write-options.ts';

/** ListOptions of list, watch and deletecollection, from the query. Selectors are read elsewhere. */
export interface ListOptions {
  readonly isWatch: boolean;
  readonly resourceVersion: string;
  readonly match: '' | 'NotOlderThan' | 'Exact';
  /** 0: no limit. */
  readonly limit: number;
  readonly continueToken: string;
  readonly timeoutSeconds: number | undefined;
  readonly allowBookmarks: boolean;
  readonly sendInitialEvents: boolean | undefined;
}

/** @throws StatusError 400 for what is not a number, 422 for combinations that are not allowed */
export function readListOptions(query: URLSearchParams, isWatch: boolean): ListOptions {
  const options: ListOptions = {
    isWatch,
    resourceVersion: query.get('resourceVersion') ?? '',
    match: (query.get('resourceVersionMatch') ?? '') as ListOptions['match'],
    limit: readNumber(query, 'limit') ?? 0,
    continueToken: query.get('continue') ?? '',
    timeoutSeconds: readNumber(query, 'timeoutSeconds'),
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: readFlag(query, 'sendInitialEvents'),
  };
  const errors = isWatch ? watchErrors(options) : listErrors(options);
  if (errors.length > 0) throw invalidObject({ kind: 'ListOptions', group: 'meta.k8s.io', name: '' }, errors);
  checkContinuation(options);
  return options;
}

/** A page goes on with the version of its list, and with no other. */
function checkContinuation({ resourceVersion, continueToken }: ListOptions): void {
  if (continueToken === '' || resourceVersion === '' || resourceVersion === '0') return;
  throw badRequest('specifying resource version is not allowed when using continue');
}

/** A resourceVersion as a number; '' and '0' are 0. @throws StatusError 400 */
export function parseResourceVersion(text: string): number {
  if (text === '') return 0;
  const revision = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(revision)) {
    throw badRequest(
      `resourceVersion: Invalid value: ${JSON.stringify(text)}: strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`,
    );
  }
  return revision;
}

function readFlag(query: URLSearchParams, name: string): boolean | undefined {
  return query.has(name) ? isTrue(query.get(name)) : undefined;
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^-?\d{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Math.max(0, Number(text));
}

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const { match, resourceVersion } = options;
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbiddenField('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  if (match === ('' as string)) return errors;
  if (resourceVersion === '') {
    errors.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
    );
  }
  if (options.continueToken !== '') {
    errors.push(
      forbiddenField('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided'),
    );
  }
  if (match !== 'NotOlderThan' && match !== 'Exact') {
    errors.push(notSupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']));
  }
  if (match === 'Exact' && resourceVersion === '0') {
    errors.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ),
    );
  }
  return errors;
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = [];
  const wantsInitial = options.sendInitialEvents !== undefined;
  if (options.match !== '' && !wantsInitial) {
    errors.push(
      forbiddenField(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    );
  }
  if (wantsInitial && options.match !== 'NotOlderThan') {
    errors.push(
      forbiddenField(
        'resourceVersionMatch',
        'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
      ),
    );
  }
  if (wantsInitial && options.match !== '' && options.match !== 'NotOlderThan')
    errors.push(notSupported('resourceVersionMatch', options.match, ['NotOlderThan']));
  return errors;
}

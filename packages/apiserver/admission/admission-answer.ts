import { isJsonObject, type JsonObject, StatusError, type StatusReason } from '@sheaf/base';
import { integerAt, objectAt, textAt, textsAt } from './object-field.ts';

/** What a webhook has answered, checked. */
export interface AdmissionAnswer {
  readonly isAllowed: boolean;
  /** Base64 of a JSON patch; empty if there is none. */
  readonly patch: string;
  readonly patchType: string;
  readonly result: JsonObject | undefined;
  readonly warnings: readonly string[];
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

export interface Expected {
  readonly uid: string;
  readonly version: string;
  readonly isMutating: boolean;
}

/** @throws Error that says what is wrong with the answer */
export function readAdmissionAnswer(review: JsonObject, expected: Expected): AdmissionAnswer {
  const { response } = review;
  if (!isJsonObject(response)) throw new Error('webhook response was absent');
  if (expected.version === 'v1') checkIdentity(review, response, expected.uid);
  const patch = textAt(response, 'patch');
  const patchType = response['patchType'] ?? undefined;
  if (expected.version === 'v1') checkPatch(patch, patchType, expected.isMutating);
  return {
    isAllowed: response['allowed'] === true,
    patch: expected.isMutating ? patch : '',
    patchType: typeof patchType === 'string' ? patchType : 'JSONPatch',
    result: isJsonObject(response['status']) ? response['status'] : undefined,
    warnings: textsAt(response, 'warnings'),
    auditAnnotations: textMap(response['auditAnnotations']),
  };
}

function checkIdentity(review: JsonObject, response: JsonObject, uid: string): void {
  const given = textAt(response, 'uid');
  if (given !== uid)
    throw new Error(`expected response.uid=${JSON.stringify(uid)}, got ${JSON.stringify(given)}`);
  const actual = `${textAt(review, 'apiVersion')}, Kind=${textAt(review, 'kind')}`;
  const wanted = 'admission.k8s.io/v1, Kind=AdmissionReview';
  if (actual !== wanted) throw new Error(`expected webhook response of ${wanted}, got ${actual}`);
}

function checkPatch(patch: string, patchType: unknown, isMutating: boolean): void {
  const hasPatch = patch !== '';
  const hasType = patchType !== undefined;
  if (!isMutating) {
    if (hasPatch) throw new Error('validating webhook may not return response.patch');
    if (hasType) throw new Error('validating webhook may not return response.patchType');
    return;
  }
  if (hasPatch && !hasType) throw new Error('webhook returned response.patch but not response.patchType');
  if (!hasPatch && hasType) throw new Error('webhook returned response.patchType but not response.patch');
  if (patchType === '') throw new Error('webhook returned invalid response.patchType of ""');
}

function textMap(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** The refusal that a webhook has decided on: with its own reason and code, where it gives one that is an error's. */
export function denial(webhook: string, result: JsonObject | undefined): StatusError {
  const prefix = `admission webhook ${JSON.stringify(webhook)} denied the request`;
  const reason = textAt(result, 'reason');
  const explanation = textAt(result, 'message') || reason;
  const code = integerAt(result, 'code');
  const details = objectAt(result, 'details');
  return new StatusError({
    reason: reason as StatusReason,
    code: code >= 400 && code <= 599 ? code : 400,
    message: explanation === '' ? `${prefix} without explanation` : `${prefix}: ${explanation}`,
    ...(Object.keys(details).length > 0 && { details }),
  });
}

import { metaDefinitions } from './definition-names.ts';
import { logMediaTypes } from './media-types.ts';
import type { Answer, Operation } from './operation.ts';
import { baseOf, ok, type ResourceSubject } from './resource-subject.ts';

export const writeKeys: readonly string[] = ['dryRun', 'fieldManager', 'fieldValidation'];
export const patchKeys: readonly string[] = ['dryRun', 'fieldManagerOfApply', 'fieldValidation', 'force'];

/** Names of an operation on one object or one of its subresources. */
export interface ObjectOperation {
  readonly suffix: string;
  readonly description: string;
}

export function read(subject: ResourceSubject, { suffix, description }: ObjectOperation): Operation {
  const { resource, word, scope, media, definition } = subject;
  const isText = suffix === 'Log';
  return {
    ...baseOf(subject, 'get', 'get'),
    id: `read${word}${scope}${resource.kind}${suffix}`,
    description,
    parameters: resource.isBuiltin ? [] : subject.parameters.shared(['resourceVersion']),
    answers: [ok(isText ? undefined : definition)],
    produces: isText ? logMediaTypes : media.object,
  };
}

export function replace(subject: ResourceSubject, { suffix, description }: ObjectOperation): Operation {
  const { resource, word, scope, media, definition } = subject;
  return {
    ...baseOf(subject, 'put', 'put'),
    id: `replace${word}${scope}${resource.kind}${suffix}`,
    description,
    parameters: subject.parameters.shared(writeKeys),
    body: { schema: definition, consumes: media.body, isRequired: true },
    answers: [ok(definition), { code: 201, schema: definition }],
    produces: media.object,
  };
}

export function patch(subject: ResourceSubject, { suffix, description }: ObjectOperation): Operation {
  const { resource, word, scope, media, definition } = subject;
  const answers: Answer[] = [ok(definition)];
  if (resource.isBuiltin) answers.push({ code: 201, schema: definition });
  return {
    ...baseOf(subject, 'patch', 'patch'),
    id: `patch${word}${scope}${resource.kind}${suffix}`,
    description,
    parameters: subject.parameters.shared(patchKeys),
    body: { schema: metaDefinitions.patch, consumes: media.patch, isRequired: true },
    answers,
    produces: media.object,
  };
}

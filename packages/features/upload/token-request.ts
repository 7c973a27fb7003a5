import { type ExtensionEndpoint, type ExtensionGroup, type ExtensionRequest, jsonAnswer } from '@sheaf/api';
import { isUploadTarget, uploadTargetAnnotation } from '@sheaf/api/virtualization/index';
import { type Clock, isJsonObject, type JsonObject, StatusError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { UploadTokens } from './upload-tokens.ts';

interface TokenParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly tokens: UploadTokens;
}

/** `create uploadtokenrequests`: an object that is never kept, only answered with a token. */
export function tokenGroup(parts: TokenParts): ExtensionGroup {
  const endpoint: ExtensionEndpoint = {
    resource: 'uploadtokenrequests',
    kind: 'UploadTokenRequest',
    verbs: ['create'],
    handle: async (request) => jsonAnswer(201, await answer(parts, request)),
  };
  return { group: 'upload.cdi.kubevirt.io', version: 'v1beta1', endpoints: [endpoint] };
}

async function answer({ client, clock, tokens }: TokenParts, request: ExtensionRequest): Promise<JsonObject> {
  const { namespace, signal } = request;
  const body = (await request.body.json()) ?? {};
  const name = claimNameIn(body);
  const claim = await client.get(resources.persistentVolumeClaims, { namespace, name }, signal);
  if (!isUploadTarget(claim))
    throw new StatusError({
      reason: 'Conflict',
      message: `the claim ${name} takes no upload; annotate it with ${uploadTargetAnnotation}="" before it has a volume, or make a DataVolume with source upload`,
    });
  const token = tokens.issue({ namespace, name, uid: claim.metadata.uid ?? '' });
  const metadata = isJsonObject(body['metadata']) ? body['metadata'] : {};
  const creationTimestamp = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z');
  return {
    ...body,
    apiVersion: 'upload.cdi.kubevirt.io/v1beta1',
    kind: 'UploadTokenRequest',
    metadata: { ...metadata, namespace, creationTimestamp },
    spec: { pvcName: name },
    status: { token },
  };
}

function claimNameIn({ spec }: JsonObject): string {
  const name = isJsonObject(spec) ? spec['pvcName'] : undefined;
  if (typeof name === 'string' && name !== '') return name;
  throw new StatusError({
    reason: 'Invalid',
    message: 'spec.pvcName is missing; name the claim that is to be uploaded to',
    details: {
      causes: [{ reason: 'FieldValueRequired', message: 'name the claim', field: 'spec.pvcName' }],
    },
  });
}

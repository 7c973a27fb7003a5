import type { ExtensionAnswer, UpgradeAnswer } from '@sheaf/api';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import { chooseProtocol } from '../upgrade/protocols.ts';

/** What a feature has answered, as the transport sends it. */
export function toResponse(request: ApiRequest, answer: ExtensionAnswer): ApiResponse {
  if (answer.kind !== 'plain') return upgraded(request, answer);
  const { status, body } = answer;
  const headers = { ...answer.headers };
  if (body instanceof Uint8Array) return { status, headers, body: { kind: 'bytes', chunks: [body] } };
  return { status, headers, body: { kind: 'pull', chunks: body } };
}

function upgraded(request: ApiRequest, answer: UpgradeAnswer): ApiResponse {
  try {
    chooseProtocol(answer.kind, request.upgrade);
    return { status: 101, headers: {}, body: { kind: 'upgrade', answer } };
  } catch (error) {
    if ('stream' in answer) answer.stream.dispose();
    throw error;
  }
}

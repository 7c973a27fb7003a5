import type { ExtensionAnswer } from '@sheaf/api';
import { badRequest } from '@sheaf/base';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';

/** What a feature has answered, as the transport sends it. */
export function toResponse(request: ApiRequest, answer: ExtensionAnswer): ApiResponse {
  if (answer.kind !== 'plain') return upgraded(request, answer);
  const { status, body } = answer;
  const headers = { ...answer.headers };
  if (body instanceof Uint8Array) return { status, headers, body: { kind: 'bytes', chunks: [body] } };
  return { status, headers, body: { kind: 'pull', chunks: body } };
}

function upgraded(request: ApiRequest, answer: Exclude<ExtensionAnswer, { kind: 'plain' }>): ApiResponse {
  if (request.upgrade) return { status: 101, headers: {}, body: { kind: 'upgrade', answer } };
  answer.stream.dispose();
  throw upgradeRequired();
}

export function upgradeRequired(): Error {
  return badRequest(
    'this is a stream: open it as a WebSocket over HTTP/1.1 (GET with Connection: Upgrade, Upgrade: websocket, Sec-WebSocket-Version: 13)',
  );
}

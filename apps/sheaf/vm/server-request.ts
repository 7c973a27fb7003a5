import type { Client } from '@sheaf/client';

export interface ServerRequest {
  readonly method: string;
  readonly target: string;
  readonly body?: object;
}

/** The body of an answer that may be empty or no JSON. @throws Error with the server's words, which name the way out */
export async function sendToServer(client: Client, { method, target, body }: ServerRequest): Promise<string> {
  const answer = await client.send({
    method,
    target,
    ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
  });
  const text = await answer.text();
  if (answer.status < 400) return text;
  throw new Error(messageOf(text) || `the server answered ${answer.status}`);
}

function messageOf(text: string): string {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    return typeof message === 'string' ? message : text;
  } catch {
    // Actions answer in plain text.
    return text.trim();
  }
}

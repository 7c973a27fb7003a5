import { readFile } from 'node:fs/promises';
import { request } from 'node:https';
import { join } from 'node:path';
import { failureNamed } from './failure-words.ts';
import { accountPath } from './helm-environment.ts';
import { HelmError } from './helm-session.ts';

/** The API as the account of the pod sees it. */
export interface Account {
  /** `HOST:PORT`. */
  readonly server: string;
  readonly token: string;
  readonly authority: string;
}

export async function readAccount({
  root,
  server,
}: {
  readonly root: string;
  readonly server: string;
}): Promise<Account> {
  const read = (name: string): Promise<string> => readFile(join(root, accountPath, name), 'utf8');
  return { server, token: (await read('token')).trim(), authority: await read('ca.crt') };
}

/** The server has answered, but not what was asked for. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly code: number | undefined;

  constructor(code: number | undefined) {
    super(`the API server answers ${code}`);
    this.code = code;
  }
}

function metadata(kind: string): string {
  return `application/json;as=${kind};g=meta.k8s.io;v=v1`;
}

/** Objects without their content. */
export const onlyMetadata = {
  one: metadata('PartialObjectMetadata'),
  list: metadata('PartialObjectMetadataList'),
};

/** Why an operation cannot go on without what it cannot read. */
export function unreadable(what: string, error: unknown): HelmError {
  const reason = error instanceof ApiError ? 'ApiRefused' : 'ApiUnreachable';
  return new HelmError(failureNamed(reason), `${what} cannot be read: ${(error as Error).message}`);
}

const limitMs = 5000;

/** What the server has under a path. @throws ApiError for another answer than 200, Error if there is none */
export function readPath(account: Account, path: string, accept = 'application/json, */*'): Promise<string> {
  return answerTo(account, { method: 'GET', path, headers: { accept }, body: '' });
}

/** Deletes the object under a path, and in the background what it owns, if it is this one. @throws ApiError, Error likewise */
export async function deletePath(account: Account, path: string, uid: string): Promise<void> {
  const body = JSON.stringify({
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: 'Background',
    preconditions: { uid },
  });
  // Node tells no length by itself where a method usually has no body, and nobody would read this one.
  const headers = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) };
  await answerTo(account, { method: 'DELETE', path, headers, body });
}

interface Question {
  readonly method: 'GET' | 'DELETE';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const goodAnswers: ReadonlySet<number | undefined> = new Set([200, 202]);

function answerTo(
  { server, token, authority }: Account,
  { method, path, headers, body }: Question,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request(`https://${server}${path}`, {
      method,
      ca: authority,
      headers: { authorization: `Bearer ${token}`, ...headers },
      signal: AbortSignal.timeout(limitMs),
    });
    asked.once('error', reject);
    asked.once('response', (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.once('error', reject);
      answer.once('end', () => {
        const text = Buffer.concat(parts).toString('utf8');
        if (goodAnswers.has(answer.statusCode)) resolve(text);
        else reject(new ApiError(answer.statusCode));
      });
    });
    asked.end(body);
  });
}

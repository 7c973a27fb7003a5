import { type IncomingMessage, type OutgoingHttpHeaders, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { CheckResult, HttpCheck } from '@sheaf/ports';
import { addressOf, wordsOf } from './network-words.ts';

const maxRedirects = 10;
const redirections: readonly (number | undefined)[] = [301, 302, 303, 307, 308];

interface Answer {
  readonly status: number;
  readonly location: string | undefined;
}

/** Asks, and follows redirections as long as they lead to the same host. Bodies are not read. */
export async function checkHttp(check: HttpCheck, signal: AbortSignal): Promise<CheckResult> {
  const headers = headersOf(check);
  let url = urlOf(check);
  try {
    for (let asked = 0; asked < maxRedirects; asked++) {
      const { status, location } = await ask(url, headers, signal);
      const next = location === undefined ? undefined : new URL(location, url);
      if (next?.hostname !== url.hostname || !/^https?:$/.test(next.protocol)) return resultOf(status);
      // A name for the server was for the first one.
      if (next.host !== url.host) delete headers['host'];
      url = next;
    }
    return { isHealthy: false, text: `Get "${url.href}": stopped after ${maxRedirects} redirects` };
  } catch (error) {
    const text = signal.aborted ? 'context deadline exceeded while awaiting headers' : wordsOf(error);
    return { isHealthy: false, text: `Get "${url.href}": ${text}` };
  }
}

function resultOf(status: number): CheckResult {
  if (status >= 200 && status < 400) return { isHealthy: true };
  return { isHealthy: false, text: `HTTP probe failed with statuscode: ${status}` };
}

function urlOf({ scheme, path, ...target }: HttpCheck): URL {
  return new URL(`${scheme}://${addressOf(target)}${path.startsWith('/') ? path : `/${path}`}`);
}

/** Those of the check, several of one name together; an empty Accept is none. */
function headersOf({ headers }: HttpCheck): OutgoingHttpHeaders {
  const all: Record<string, string[]> = {};
  for (const { name, value } of headers) (all[name.toLowerCase()] ??= []).push(value);
  all['user-agent'] ??= ['kube-probe/1.36'];
  all['accept'] ??= ['*/*'];
  if (all['accept'][0] === '') delete all['accept'];
  const { host, ...rest } = all;
  return { ...rest, connection: 'close', ...(host?.[0] && { host: host[0] }) };
}

function ask(url: URL, headers: OutgoingHttpHeaders, signal: AbortSignal): Promise<Answer> {
  const options = { agent: false, headers, signal };
  return new Promise((resolve, reject) => {
    const onAnswer = (answer: IncomingMessage): void => {
      const { statusCode = 0, headers: answered } = answer;
      const location = redirections.includes(statusCode) ? answered.location : undefined;
      resolve({ status: statusCode, location });
      // What comes after the headers may never end.
      answer.on('error', () => undefined);
      answer.destroy();
    };
    const request =
      url.protocol === 'https:'
        ? requestHttps(url, { ...options, rejectUnauthorized: false }, onAnswer)
        : requestHttp(url, options, onAnswer);
    request.on('error', reject);
    // A server that has changed to another protocol has answered.
    request.on('upgrade', onAnswer);
    request.end();
  });
}

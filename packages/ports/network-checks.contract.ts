import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CheckResult, CheckTarget, HttpCheck, NetworkChecks } from './network-checks.ts';

export interface AskedHttp {
  readonly path: string;
  /** By lower case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly location?: string;
  /** The headers come, then nothing more. */
  readonly stalls?: boolean;
}

/** `code`: a status of gRPC; `state`: what the health protocol says. */
export type GrpcAnswer = { readonly code: number; readonly message: string } | { readonly state: number };

/** Servers that a test makes; they end with it. */
export interface NetworkBench {
  readonly checks: NetworkChecks;
  serveHttp(scheme: 'http' | 'https', answer: (asked: AskedHttp) => HttpAnswer): Promise<CheckTarget>;
  serveGrpc(answer: (service: string) => GrpcAnswer): Promise<CheckTarget>;
  /** Takes connections and never says a word. `onConnection` is told of each. */
  serveSilence(onConnection?: () => void): Promise<CheckTarget>;
  /** Ends each connection at once. */
  serveEnds(): Promise<CheckTarget>;
  /** Where nobody listens. */
  readonly nobody: CheckTarget;
}

type WithBench = (use: (bench: NetworkBench) => Promise<void>) => Promise<void>;

const { signal } = new AbortController();
const healthy: CheckResult = { isHealthy: true };

/** What every driver of `NetworkChecks` must do. */
export function testNetworkChecks(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: NetworkBench) => Promise<void>): void => {
    test(`${driver}: ${name}`, () => withBench(use));
  };
  check('an HTTP server is healthy by its status, whatever follows', httpStatus);
  check('headers of a check are sent, and usual ones where it has none', httpHeaders);
  check('redirections are followed on the same host, and not for ever', redirects);
  check('certificates are not looked at', tls);
  check('a port is healthy if it takes connections', tcp);
  check('gRPC is healthy if it says so', grpc);
  check('who does not answer, or ends, is not healthy and has a reason', broken);
  check('a signal that aborts is a result', silence);
}

function at(target: CheckTarget, more: Partial<HttpCheck> = {}): HttpCheck {
  return { ...target, scheme: 'http', path: '/', headers: [], ...more };
}

function textOf(result: CheckResult): string {
  return result.isHealthy ? 'healthy' : result.text;
}

async function httpStatus(bench: NetworkBench): Promise<void> {
  const target = await bench.serveHttp('http', ({ path }) => ({
    status: Number(path.slice(1)),
    stalls: true,
  }));
  for (const status of [200, 204, 302, 399])
    assert.deepEqual(await bench.checks.http(at(target, { path: `/${status}` }), signal), healthy);
  for (const status of [400, 404, 503])
    assert.deepEqual(await bench.checks.http(at(target, { path: `${status}` }), signal), {
      isHealthy: false,
      text: `HTTP probe failed with statuscode: ${status}`,
    });
}

async function httpHeaders(bench: NetworkBench): Promise<void> {
  const asked: AskedHttp[] = [];
  const target = await bench.serveHttp('http', (request) => {
    asked.push(request);
    return { status: 200 };
  });
  const headers = [
    { name: 'X-Many', value: 'a' },
    { name: 'X-Many', value: 'b' },
    { name: 'Host', value: 'front.example' },
    { name: 'Accept', value: '' },
  ];
  await bench.checks.http(at(target, { path: '/a b?c=d%20e', headers }), signal);
  await bench.checks.http(at(target), signal);
  const [first, second] = asked.map(({ path, headers: sent }) => ({
    path,
    many: sent['x-many'],
    host: sent['host'],
    accept: sent['accept'],
  }));
  assert.deepEqual(first, { path: '/a%20b?c=d%20e', many: 'a, b', host: 'front.example', accept: undefined });
  assert.deepEqual(second, {
    path: '/',
    many: undefined,
    host: `${target.host}:${target.port}`,
    accept: '*/*',
  });
  assert.match(asked[1]?.headers['user-agent'] ?? '', /^kube-probe\//);
}

async function redirects(bench: NetworkBench): Promise<void> {
  const places: Readonly<Record<string, HttpAnswer>> = {
    '/local': { status: 302, location: '/well' },
    '/well': { status: 200 },
    '/worse': { status: 307, location: 'ill' },
    '/ill': { status: 500 },
    '/away': { status: 301, location: 'http://elsewhere.example/' },
    '/nowhere': { status: 301 },
    '/around': { status: 308, location: '/around' },
  };
  const target = await bench.serveHttp('http', ({ path }) => places[path] ?? { status: 404 });
  const look = async (path: string): Promise<string> =>
    textOf(await bench.checks.http(at(target, { path }), signal));
  assert.deepEqual(
    [await look('/local'), await look('/worse'), await look('/away'), await look('/nowhere')],
    ['healthy', 'HTTP probe failed with statuscode: 500', 'healthy', 'healthy'],
  );
  assert.match(await look('/around'), /stopped after 10 redirects/);
}

async function tls(bench: NetworkBench): Promise<void> {
  const target = await bench.serveHttp('https', () => ({ status: 200 }));
  assert.deepEqual(await bench.checks.http(at(target, { scheme: 'https' }), signal), healthy);
  assert.equal((await bench.checks.http(at(target), signal)).isHealthy, false, 'it speaks TLS');
}

async function tcp(bench: NetworkBench): Promise<void> {
  assert.deepEqual(await bench.checks.tcp(await bench.serveSilence(), signal), healthy);
  assert.match(textOf(await bench.checks.tcp(bench.nobody, signal)), /connection refused/);
}

async function grpc(bench: NetworkBench): Promise<void> {
  const answers: Readonly<Record<string, GrpcAnswer>> = {
    '': { state: 1 },
    unknown: { state: 0 },
    ill: { state: 2 },
    absent: { code: 5, message: 'unknown service' },
    mute: { code: 12, message: 'no method' },
  };
  const long = 'l'.repeat(300);
  const target = await bench.serveGrpc((service) => answers[service] ?? { state: service === long ? 1 : 3 });
  const look = async (service: string): Promise<string> =>
    textOf(await bench.checks.grpc({ ...target, service }, signal));
  assert.equal(await look(''), 'healthy');
  assert.equal(await look(long), 'healthy');
  assert.equal(await look('unknown'), 'service unhealthy (responded with "UNKNOWN")');
  assert.equal(await look('ill'), 'service unhealthy (responded with "NOT_SERVING")');
  assert.match(await look('absent'), /health rpc probe failed: .*unknown service/);
  assert.match(await look('mute'), /does not implement the grpc health protocol .*no method/);
}

async function broken(bench: NetworkBench): Promise<void> {
  const { checks, nobody } = bench;
  const ends = await bench.serveEnds();
  const web = await bench.serveHttp('http', () => ({ status: 200 }));
  assert.match(textOf(await checks.http(at(nobody), signal)), /^Get "http:.*connection refused/);
  assert.match(textOf(await checks.http(at(ends), signal)), /^Get "http:.*(EOF|reset)/);
  assert.match(
    textOf(await checks.grpc({ ...nobody, service: '' }, signal)),
    /failed to connect.*connection refused/,
  );
  for (const target of [ends, web])
    assert.match(textOf(await checks.grpc({ ...target, service: '' }, signal)), /^error: /);
}

async function silence(bench: NetworkBench): Promise<void> {
  const { checks, nobody } = bench;
  let hasCome: () => void = () => undefined;
  const target = await bench.serveSilence(() => hasCome());
  const given = async (look: (signal: AbortSignal) => Promise<CheckResult>): Promise<string> => {
    const controller = new AbortController();
    hasCome = () => controller.abort();
    return textOf(await look(controller.signal));
  };
  assert.match(await given((limit) => checks.http(at(target), limit)), /context deadline exceeded/);
  assert.match(await given((limit) => checks.grpc({ ...target, service: '' }, limit)), /^timeout: /);
  const late = AbortSignal.abort();
  assert.match(textOf(await checks.http(at(nobody), late)), /context deadline exceeded/);
  assert.match(textOf(await checks.tcp(nobody, late)), /i\/o timeout/);
  assert.match(textOf(await checks.grpc({ ...nobody, service: '' }, late)), /^timeout: /);
}

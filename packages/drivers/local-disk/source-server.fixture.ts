import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SourceAnswer } from '@sheaf/ports/disk-bench.fixture';

/** An HTTP server on the loopback whose answers, good and bad, are given. */
export class SourceServer {
  readonly #server: Server;
  readonly #offers: { readonly answers: readonly SourceAnswer[]; asked: number }[] = [];
  readonly requests: IncomingMessage[] = [];

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response));
  }

  static async start(): Promise<SourceServer> {
    const source = new SourceServer();
    await new Promise<void>((resolve) => source.#server.listen(0, '127.0.0.1', resolve));
    return source;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  offer(answers: readonly SourceAnswer[]): string {
    this.#offers.push({ answers, asked: 0 });
    return `http://127.0.0.1:${this.port}/${this.#offers.length - 1}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    this.requests.push(request);
    const offer = this.#offers[Number(request.url?.slice(1))];
    const answer = offer?.answers[Math.min(offer.asked++, offer.answers.length - 1)];
    if (!answer) response.writeHead(404).end();
    else if (answer.status !== undefined) response.writeHead(answer.status).end('no');
    else sendContent(answer, request, response);
  }
}

function sendContent(answer: SourceAnswer, request: IncomingMessage, response: ServerResponse): void {
  const { content, etag, hidesLength } = answer;
  const start = startOf(answer, request);
  const rest = content.subarray(start);
  if (start > 0)
    response.writeHead(206, {
      'content-range': `bytes ${start}-${content.length - 1}/${content.length}`,
      ...(etag === undefined ? {} : { etag }),
    });
  else
    response.writeHead(200, {
      ...(etag === undefined ? {} : { etag }),
      ...(hidesLength ? {} : { 'content-length': rest.length }),
    });
  sendUntilFault(answer, rest, response);
}

function startOf({ etag, trustsAsker }: SourceAnswer, { headers }: IncomingMessage): number {
  const asked = Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const isSame = etag !== undefined && headers['if-range'] === etag;
  return isSame || trustsAsker ? asked : 0;
}

function sendUntilFault(
  { breaksAfter, stallsAfter }: SourceAnswer,
  rest: Uint8Array,
  response: ServerResponse,
): void {
  const end = breaksAfter ?? stallsAfter;
  if (end === undefined) {
    response.end(rest);
    return;
  }
  response.flushHeaders();
  response.write(rest.subarray(0, end), () => {
    // All that was written arrives before the end.
    if (breaksAfter !== undefined) response.socket?.end();
  });
}

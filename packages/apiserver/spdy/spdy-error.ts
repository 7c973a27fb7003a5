/** What has come is no SPDY/3.1, or more than is taken: the session ends. */
export class SpdyError extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'SpdyError';
  }
}

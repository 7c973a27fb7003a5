import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ByteStream, ItemQueue } from '@sheaf/base';
import { logWithStream, overlapOf } from './log-stream.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

it('finds what the end of one text and the beginning of another have in common', () => {
  const table = [
    ['abc', 'bcd', 2],
    ['abc', 'abc', 3],
    ['', 'abc', 0],
    ['abc', '', 0],
    ['abc', 'xyz', 0],
  ] as const;
  for (const [before, after, length] of table) assert.equal(overlapOf(bytes(before), bytes(after)), length);
});

function pairOf(log: Promise<Uint8Array>): {
  push: (text: string) => void;
  end: () => void;
  text: Promise<string>;
} {
  const queue = new ItemQueue<Uint8Array>(() => {});
  const stream: ByteStream = {
    readable: queue.items(),
    write: () => Promise.resolve(),
    dispose: () => queue.end(),
  };
  const read = async (): Promise<string> => {
    const parts = await Array.fromAsync(logWithStream(() => log, stream, new AbortController().signal));
    return Buffer.concat(parts).toString();
  };
  return { push: (text) => queue.push(bytes(text)), end: () => queue.end(), text: read() };
}

it('gives the log and then what follows, each once', async () => {
  const log = Promise.withResolvers<Uint8Array>();
  const { push, end, text } = pairOf(log.promise);
  push('two\n');
  await new Promise((resolve) => setImmediate(resolve));
  log.resolve(bytes('one\ntwo\n'));
  await new Promise((resolve) => setImmediate(resolve));
  push('\n');
  end();
  assert.equal(await text, 'one\ntwo\n\n');
});

it('gives the log of a stream that ends meanwhile', async () => {
  const { push, end, text } = pairOf(Promise.resolve(bytes('one\n')));
  push('two\n');
  end();
  assert.equal(await text, 'one\ntwo\n');
});

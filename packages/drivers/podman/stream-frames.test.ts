import assert from 'node:assert/strict';
import { test } from 'node:test';
import { framesOf } from './stream-frames.ts';

function frame(kind: number, text: string): Buffer {
  const head = Buffer.alloc(8);
  head[0] = kind;
  head.writeUInt32BE(Buffer.byteLength(text), 4);
  return Buffer.concat([head, Buffer.from(text)]);
}

async function* bytewise(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (const byte of bytes) yield await Promise.resolve(Uint8Array.of(byte));
}

test('outputs are told apart, wherever their frames come apart', async () => {
  const bytes = Buffer.concat([frame(1, 'out'), frame(1, ''), frame(2, 'err'), frame(1, 'more')]);
  const seen: string[] = [];
  for await (const { stream, bytes: part } of framesOf(bytewise(bytes)))
    seen.push(`${stream} ${String(part)}`);
  assert.deepEqual(seen, ['stdout out', 'stderr err', 'stdout more']);
});

test('what the engine has to say, and what is no frame, breaks the output', async () => {
  for (const [bytes, words] of [
    [frame(3, 'the engine failed'), /the engine failed/],
    [Buffer.from('plain text'), /not in frames/],
  ] as const)
    await assert.rejects(framesOf(bytewise(bytes)).next(), words);
});

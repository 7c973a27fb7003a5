import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { constants, createDeflate, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { FrameReader } from './frame-reader.ts';
import { FrameWriter } from './frame-writer.ts';
import type { Frame } from './frames.ts';
import { HeaderDecoder, HeaderEncoder, uint32 } from './header-block.ts';
import { headerDictionary } from './header-dictionary.ts';
import { SpdyError } from './spdy-error.ts';

const streamId = fc.integer({ min: 1, max: 0x7fffffff });
const number = fc.integer({ min: 0, max: 0x7fffffff });
const isLast = fc.boolean();
const headers = fc
  .array(fc.tuple(fc.stringMatching(/^[a-z-]{1,12}$/), fc.stringMatching(/^[ -~]{0,40}$/)), { maxLength: 8 })
  .map((entries) => new Map(entries));
const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc
    .tuple(fc.constantFrom('open', 'reply'), streamId, headers, isLast)
    .map(([kind, id, map, last]): Frame => ({ kind, streamId: id, headers: map, isLast: last })),
  fc
    .tuple(streamId, fc.uint8Array({ maxLength: 300 }), isLast)
    .map(([id, bytes, last]): Frame => ({ kind: 'data', streamId: id, bytes, isLast: last })),
  fc.tuple(streamId, number).map(([id, status]): Frame => ({ kind: 'reset', streamId: id, status })),
  number.map((id): Frame => ({ kind: 'ping', id })),
  fc.constant<Frame>({ kind: 'go-away' }),
);

/** Parts of data put together again, so that it does not matter how they were cut. */
function whole(frames: readonly Frame[]): readonly Frame[] {
  const all: Frame[] = [];
  for (const item of frames) {
    const last = all.at(-1);
    if (item.kind === 'data' && last?.kind === 'data' && last.streamId === item.streamId && !last.isLast)
      all[all.length - 1] = { ...item, bytes: Buffer.concat([last.bytes, item.bytes]) };
    else all.push(item.kind === 'data' ? { ...item, bytes: Buffer.from(item.bytes) } : item);
  }
  return all;
}

describe('SPDY frames', () => {
  it('are read as they were written, however they are cut on their way', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.integer({ min: 1, max: 40 }), (frames, step) => {
        const writer = new FrameWriter();
        const bytes = Buffer.concat(frames.map((item) => writer.write(item)));
        const reader = new FrameReader();
        const read: Frame[] = [];
        for (let at = 0; at < bytes.length; at += step)
          read.push(...reader.read(bytes.subarray(at, at + step)));
        assert.deepEqual(whole(read), whole(frames));
      }),
      { numRuns: 60 },
    );
  });

  it('that are none end the session, and nothing else', () => {
    const changed = fc.tuple(
      fc.array(frame, { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat()),
      fc.nat(255),
    );
    fc.assert(
      fc.property(changed, ([frames, places, value]) => {
        const writer = new FrameWriter();
        const bytes = Buffer.concat(frames.map((item) => writer.write(item)));
        for (const place of places) bytes[place % bytes.length] = value;
        const reader = new FrameReader();
        try {
          for (const _ of reader.read(bytes)) continue;
        } catch (error) {
          assert.ok(error instanceof SpdyError, String(error));
        }
      }),
      { numRuns: 100 },
    );
  });

  it('say what is wrong with them', () => {
    const read = (...bytes: (number | Buffer)[]): Frame[] =>
      Array.from(
        new FrameReader().read(
          Buffer.concat(bytes.map((item) => (typeof item === 'number' ? uint32(item) : item))),
        ),
      );
    assert.throws(() => read(0, 0), /data of no stream/);
    assert.throws(() => read(0x80020001, 10), /SPDY\/2 is not spoken/);
    assert.throws(() => read(0x80030001, 0xffffff), /a frame of 16777215 bytes is too long/);
    assert.throws(() => read(0x80030003, 4, 1), /shorter than what it has to say/);
    assert.throws(() => read(0x80030003, 8, 0, 1), /a frame of no stream/);
    assert.throws(() => read(0x80030001, 12, 1, 0, Buffer.alloc(4)), /not compressed as/);
    assert.deepEqual(read(0x80030004, 4, 0, 0x80030009, 8, 1, 65_536, 0x80030006, 4, 7), [
      { kind: 'ping', id: 7 },
    ]);
  });
});

describe('SPDY headers', () => {
  it('are read from a stream that is compressed as a whole', async () => {
    const deflate = createDeflate({ dictionary: headerDictionary(), flush: constants.Z_SYNC_FLUSH });
    const decoder = new HeaderDecoder();
    for (let index = 0; index < 700; index++) {
      const given = new Map([
        ['streamtype', index % 2 === 0 ? 'data' : 'error'],
        ['port', '8080'],
        ['requestid', `${index} ${'x'.repeat(index % 90)}`],
      ]);
      const plain = Buffer.concat([
        uint32(given.size),
        ...[...given].flat().flatMap((text) => [uint32(text.length), Buffer.from(text)]),
      ]);
      await new Promise((resolve) => {
        deflate.write(plain, resolve);
      });
      const parts: Buffer[] = [];
      for (let part = deflate.read() as Buffer | null; part; part = deflate.read() as Buffer | null)
        parts.push(part);
      assert.deepEqual(decoder.decode(Buffer.concat(parts)), given);
    }
  });

  it('have an end', () => {
    const encoder = new HeaderEncoder();
    const many = new Map(Array.from({ length: 101 }, (_, index) => [`h${index}`, '']));
    assert.throws(() => new HeaderDecoder().decode(encoder.encode(many)), /101 headers; at most 100/);
    const bomb = deflateRawSync(Buffer.alloc(10 * 1024 * 1024));
    const first = new HeaderEncoder().encode(new Map()).subarray(0, 6);
    assert.throws(() => new HeaderDecoder().decode(Buffer.concat([first, bomb])), /cannot be decompressed/);
    const short = deflateRawSync(Buffer.concat([uint32(1), uint32(1000)]));
    assert.throws(() => new HeaderDecoder().decode(Buffer.concat([first, short])), /cut off/);
  });
});

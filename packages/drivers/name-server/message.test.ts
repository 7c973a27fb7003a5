import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { systemRandom } from '../system/system-random.ts';
import { answerMessage } from './answers.ts';
import { isAnswerTo, MalformedMessage, readAnswer, readQuery } from './message-reader.ts';
import { writeQuery, writeReply } from './message-writer.ts';
import { responseCodes, typeNumbers } from './record-types.ts';

const parts = {
  answer: () => ({ kind: 'absent', zone: 'cluster.local' }) as const,
  forwarder: { ask: () => Promise.resolve(undefined) },
  random: systemRandom,
};

/** A question with some bytes of it changed. */
const damaged = fc
  .tuple(fc.array(fc.tuple(fc.nat(60), fc.nat(255)), { maxLength: 6 }), fc.nat(60))
  .map(([changes, length]) => {
    const message = Buffer.concat([
      writeQuery(7, 'web.shop.svc.cluster.local', typeNumbers.A),
      Buffer.alloc(20),
    ]);
    for (const [at, value] of changes) message[at % message.length] = value;
    return message.subarray(0, Math.max(length, 1));
  });
const messages = fc.oneof(
  damaged,
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
);

describe('messages of names', () => {
  it('of any bytes are read within bounds, or refused', () => {
    fc.assert(
      fc.property(messages, (message) => {
        for (const read of [readQuery, readAnswer])
          try {
            read(message);
          } catch (error) {
            assert.ok(error instanceof MalformedMessage || error instanceof RangeError, String(error));
          }
        assert.equal(typeof isAnswerTo(message, writeQuery(7, 'a', 1)), 'boolean');
      }),
    );
  });

  it('of any bytes are answered as the protocol says, or not at all', async () => {
    await fc.assert(
      fc.asyncProperty(messages, async (message) => {
        const answer = await answerMessage(parts, message, 'UDP');
        if (answer) assert.equal(answer.readUInt16BE(0), message.readUInt16BE(0));
      }),
    );
  });

  it('a name that leads in circles, an answer and what is no question are told apart', async () => {
    const query = writeQuery(9, 'a', typeNumbers.A);
    const circle = Buffer.concat([query.subarray(0, 12), Buffer.of(0xc0, 12, 0, 1, 0, 1)]);
    const codeOf = async (message: Buffer): Promise<number | undefined> => {
      const answer = await answerMessage(parts, message, 'UDP');
      return answer && answer.readUInt16BE(2) & 0xf;
    };
    assert.equal(await codeOf(circle), responseCodes.malformed);
    const changed = (at: number, value: number): Buffer => {
      const message = Buffer.from(query);
      message[at] = value;
      return message;
    };
    assert.equal(await codeOf(changed(2, 0x80)), undefined, 'an answer is not answered');
    assert.equal(await codeOf(changed(2, 0x28)), responseCodes.notImplemented);
    assert.equal(await codeOf(changed(5, 2)), responseCodes.malformed);
    assert.equal(await codeOf(changed(query.length - 1, 3)), responseCodes.refused);
    assert.equal(await codeOf(query.subarray(0, 11)), undefined);
    assert.equal(await codeOf(query), responseCodes.absent);
  });

  it('are told whether they belong together', () => {
    const query = writeQuery(9, 'A.example', typeNumbers.A);
    const reply = (name: string, id = 9): Buffer =>
      writeReply(readQuery(writeQuery(id, name, typeNumbers.A)), { code: 0, isOwn: true, records: [] }, 512);
    assert.equal(isAnswerTo(reply('a.example'), query), true);
    assert.equal(isAnswerTo(reply('b.example'), query), false);
    assert.equal(isAnswerTo(reply('a.example', 8), query), false);
    assert.equal(isAnswerTo(query, query), false);
  });
});

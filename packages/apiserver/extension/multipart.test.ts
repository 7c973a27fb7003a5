import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { readParts } from './multipart.ts';

const type = 'multipart/form-data; boundary=XyZ';

async function* pieces(body: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let start = 0, index = 0; start < body.length; index++) {
    const end = start + Math.max(1, sizes[index % Math.max(1, sizes.length)] ?? body.length);
    yield body.subarray(start, end);
    start = end;
  }
}

async function all(
  body: Buffer | string,
  sizes: readonly number[] = [],
  contentType = type,
): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const { name, fileName, content } of readParts(contentType, pieces(Buffer.from(body), sizes)))
    found.push([name, fileName, Buffer.concat(await Array.fromAsync(content)).toString('latin1')]);
  return found;
}

function written(parts: readonly (readonly [name: string, content: Buffer])[]): Buffer {
  return Buffer.concat([
    ...parts.flatMap(([name, content]) => [
      Buffer.from(`--XyZ\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
      content,
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--XyZ--\r\n'),
  ]);
}

describe('multipart bodies', () => {
  it('are what a browser sends', async () => {
    const form = new FormData();
    form.append('size', '3');
    form.append('chunk', new Blob(['a\r\n--b']), 'my "disk".img');
    const response = new Response(form);
    const body = Buffer.from(await response.arrayBuffer());
    assert.deepEqual(await all(body, [5], response.headers.get('content-type') ?? ''), [
      ['size', undefined, '3'],
      ['chunk', 'my "disk".img', 'a\r\n--b'],
    ]);
  });

  it('come out as they were written, wherever they are cut', async () => {
    const part = fc.tuple(
      fc.stringMatching(/^[a-z]{1,5}$/),
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 50 })),
        async (parts, sizes) => {
          assert.deepEqual(
            await all(written(parts), sizes),
            parts.map(([name, content]) => [name, undefined, content.toString('latin1')]),
          );
        },
      ),
      { numRuns: 100, seed: 1 },
    );
  });

  it('may be skipped in part, and have something before and after', async () => {
    const body = `before\r\n${written([
      ['a', Buffer.alloc(100)],
      ['b', Buffer.from('x')],
    ]).toString()}after`;
    const names: string[] = [];
    for await (const { name } of readParts(type, pieces(Buffer.from(body), [7]))) names.push(name);
    assert.deepEqual(names, ['a', 'b']);
    const begins: string[] = [];
    for await (const { content } of readParts(type, pieces(Buffer.from(body), [7])))
      for await (const chunk of content) {
        begins.push(chunk.toString());
        break;
      }
    assert.deepEqual([begins.length, begins[1]], [2, 'x']);
  });

  it('are refused when they are something else', async () => {
    const whole = written([['a', Buffer.from('x')]]);
    for (const [body, contentType, expected] of [
      [whole, 'application/json', /must be multipart\/form-data/],
      [whole, 'multipart/form-data', /with a boundary/],
      [whole.subarray(0, -8), type, /ends before its last part/],
      ['', type, /ends before/],
      ['--XyZ\r\n\r\nx\r\n--XyZ--', type, /has no name/],
      ['--XyZjunk\r\n\r\nx\r\n--XyZ--', type, /malformed/],
      [`--XyZ\r\nA: ${'x'.repeat(20_000)}\r\n\r\n--XyZ--`, type, /malformed/],
      [
        '--XyZ\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(1002),
        type,
        /more than 1000 parts/,
      ],
    ] as const)
      await assert.rejects(all(body, [], contentType), expected);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type TarFile, tarOf } from './registry.fixture.ts';
import { readTar } from './tar-reader.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += size) yield bytes.subarray(start, start + size);
}

/** Path, kind and content of each entry. */
async function read(archive: Uint8Array, size = 100): Promise<string[]> {
  const seen: string[] = [];
  for await (const { path, kind, bytes, content } of readTar(inPieces(archive, size))) {
    const chunks = bytes > 0 ? await Array.fromAsync(content()) : [];
    seen.push(`${path} ${kind} ${Buffer.concat(chunks).toString()}`.trim());
  }
  return seen;
}

function pax(attributes: Readonly<Record<string, string>>): TarFile {
  const lines = Object.entries(attributes).map(([name, value]) => {
    const rest = ` ${name}=${value}\n`;
    const length = rest.length + String(rest.length + 2).length;
    return `${length}${rest}`;
  });
  return { path: 'pax', type: 'x', bytes: Buffer.from(lines.join('')) };
}

describe('readTar', () => {
  it('reads entries, whatever pieces they come in', async () => {
    const archive = tarOf([
      { path: './disk/', type: '5' },
      { path: './disk/a', bytes: Buffer.from('first') },
      { path: '/disk//b', bytes: Buffer.from('second') },
      { path: 'disk/c', type: '2', target: '/etc/passwd' },
    ]);
    const expected = ['disk directory', 'disk/a file first', 'disk/b file second', 'disk/c link'];
    for (const size of [1, 100, 512, 1e6]) assert.deepEqual(await read(archive, size), expected);
  });

  it('knows names that are longer than a header', async () => {
    const long = `${'d/'.repeat(80)}end`;
    const archive = tarOf([
      pax({ path: long, mtime: '1.5' }),
      { path: 'short', bytes: Buffer.from('one') },
      { path: '././@LongLink', type: 'L', bytes: Buffer.from(`${long}2\0`) },
      { path: 'short', bytes: Buffer.from('two') },
      { path: 'short' },
    ]);
    assert.deepEqual(await read(archive), [`${long} file one`, `${long}2 file two`, 'short file']);
  });

  it('tells what leads outside, and what is kept in pieces', async () => {
    const archive = tarOf([
      { path: '../../etc/passwd' },
      pax({ 'GNU.sparse.major': '1' }),
      { path: 'disk/a' },
      { path: 'disk/b', type: '3' },
    ]);
    assert.deepEqual(await read(archive), ['undefined file', 'disk/a sparse', 'disk/b other']);
  });

  it('refuses what is damaged', async () => {
    const good = tarOf([{ path: 'a', bytes: Buffer.alloc(2000, 1) }]);
    const changed = Buffer.from(good);
    changed.writeUInt8(0x61, 5);
    const cases: readonly [Uint8Array, RegExp][] = [
      [good.subarray(0, 1000), /ends too early/],
      [good.subarray(0, 100), /ends too early/],
      [changed, /is damaged/],
      [
        tarOf([{ path: 'x', type: 'x', bytes: Buffer.from('9999 path=a\n999') }, { path: 'b' }]),
        /cannot be read/,
      ],
      [tarOf([{ path: 'x', type: 'x', bytes: Buffer.from('12') }, { path: 'b' }]), /cannot be read/],
      [tarOf([pax({ size: '-5' }), { path: 'b' }]), /number that cannot be read/],
    ];
    for (const [archive, words] of cases) await assert.rejects(read(archive), words);
  });
});

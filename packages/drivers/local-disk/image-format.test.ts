import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageFormatOf, packingOf } from './image-format.ts';
import { readQcow2Header } from './qcow2-header.ts';

/** The head of a sound qcow2 of 1 MiB, with changes. */
function head(change: (head: Buffer) => void = () => undefined): Buffer {
  const bytes = Buffer.alloc(4096);
  bytes.writeUInt32BE(0x514649fb, 0);
  bytes.writeUInt32BE(3, 4);
  bytes.writeUInt32BE(16, 20);
  bytes.writeBigUInt64BE(1_048_576n, 24);
  bytes.writeUInt32BE(1, 36);
  bytes.writeBigUInt64BE(0x30000n, 40);
  bytes.writeUInt32BE(104, 100);
  change(bytes);
  return bytes;
}

function backing(offset: bigint, length: number) {
  return (bytes: Buffer): void => {
    bytes.writeBigUInt64BE(offset, 8);
    bytes.writeUInt32BE(length, 16);
    bytes.write('json:{"driver":"file"}', 512);
  };
}

test('qcow2 header: is read without following what it names', () => {
  assert.equal(readQcow2Header(Buffer.alloc(4096)), undefined);
  assert.equal(readQcow2Header(head().subarray(0, 60)), undefined);
  assert.deepEqual(readQcow2Header(head(backing(512n, 22))), {
    virtualBytes: 1_048_576,
    backingFile: 'json:{"driver":"file"}',
    isEncrypted: false,
    hasDataFile: false,
    isCorrupt: false,
    hasUnknownFeatures: false,
    tableOffset: 0x30000,
    tableBytes: 8,
  });
});

test('image format: a qcow2 that is not whole in itself is refused, however it says so', () => {
  const refused: readonly (readonly [(bytes: Buffer) => void, RegExp])[] = [
    [backing(512n, 22), /needs another file/],
    [backing(512n, 0), /needs another file/],
    [backing(4090n, 100), /outside of itself/],
    [backing(2n ** 60n, 4), /size beyond all disks/],
    [backing(512n, 5000), /outside of itself/],
    [(bytes) => bytes.writeUInt32BE(1, 32), /is encrypted/],
    [(bytes) => bytes.writeUInt32BE(2, 32), /is encrypted/],
    [(bytes) => bytes.writeBigUInt64BE(4n, 72), /keeps its data in another file/],
    [(bytes) => bytes.writeUInt32BE(0x44415441, 104), /keeps its data in another file/],
    [(bytes) => bytes.writeBigUInt64BE(2n, 72), /marked as corrupt/],
    [(bytes) => bytes.writeBigUInt64BE(1n << 40n, 72), /features of qcow2 that are not known/],
    [(bytes) => bytes.writeUInt32BE(4, 4), /version 4 is not known/],
    [(bytes) => bytes.writeUInt32BE(30, 20), /a qcow2 cluster of 2\^30/],
    [(bytes) => bytes.writeUInt32BE(0xffffffff, 36), /table is too large/],
    [(bytes) => bytes.writeBigUInt64BE(2n ** 63n, 24), /size beyond all disks/],
  ];
  for (const [change, words] of refused) assert.throws(() => imageFormatOf(head(change), 4096), words);
  assert.equal(imageFormatOf(head(), 4096), 'qcow2');
});

test('image format: extensions of any length are walked without end or error', () => {
  const strange = head((bytes) => {
    bytes.writeUInt32BE(0x12345678, 104);
    bytes.writeUInt32BE(0xfffffff0, 108);
  });
  assert.equal(imageFormatOf(strange, 4096), 'qcow2');
});

test('image format: others are named, with the way out', () => {
  const start = (magic: string, offset = 0): Buffer => {
    const bytes = Buffer.alloc(64 * 1024);
    bytes.write(magic, offset, 'latin1');
    return bytes;
  };
  const size = 64 * 1024;
  assert.equal(imageFormatOf(start('CD001', 0x8001), size), 'iso');
  assert.equal(imageFormatOf(start('\x55\xaa', 510), size), 'raw');
  for (const magic of ['KDMV', 'vhdxfile', 'conectix', 'QED\0', 'LUKS\xba\xbe', 'PK\x03\x04', 'BZh'])
    assert.throws(() => imageFormatOf(start(magic), size), /convert it with "qemu-img convert/);
  assert.throws(() => imageFormatOf(start('ustar', 257), size), /a tar archive/);
  assert.throws(() => imageFormatOf(start('\xfd7zXZ\0'), size), /packed twice/);
  assert.throws(() => imageFormatOf(start('<html>'), 1000), /look at what the source sends/);
  assert.deepEqual(
    ['\x1f\x8b', '\xfd7zXZ\0', 'QFI\xfb'].map((magic) => packingOf(start(magic))),
    ['gz', 'xz', undefined],
  );
});

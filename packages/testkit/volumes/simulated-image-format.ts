import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import type { ImageOrder } from '@sheaf/ports';
import { SimulatedFault } from './simulated-download.ts';
import { cellBytes, type SimulatedLayer } from './simulated-medium.ts';

const qcow2Magic = 0x514649fb;

export interface SimulatedContent {
  readonly format: 'qcow2' | 'raw' | 'iso';
  readonly virtualBytes: number;
  readonly cells: Map<number, number>;
  readonly content: Uint8Array;
}

/** @throws SimulatedFault when it is none that may be used */
export function verifySimulated(order: ImageOrder, received: Uint8Array): SimulatedContent {
  checkSum(order, received);
  const content = Buffer.from(isGzip(received) ? unpacked(received, order.maxBytes) : received);
  if (content.length > 72 && content.readUInt32BE(0) === qcow2Magic) return readQcow2(content);
  const fault = faultOf(content);
  if (fault !== undefined) throw new SimulatedFault(fault);
  const format = content.toString('latin1', 0x8001, 0x8006) === 'CD001' ? 'iso' : 'raw';
  return { format, virtualBytes: content.length, cells: cellsOf(content), content };
}

function checkSum({ sha512 }: ImageOrder, received: Uint8Array): void {
  const found = createHash('sha512').update(received).digest('hex');
  if (sha512 !== undefined && sha512.toLowerCase() !== found)
    throw new SimulatedFault(`its SHA-512 is ${found}, not ${sha512}`);
}

function faultOf(content: Buffer): string | undefined {
  if (isGzip(content)) return 'it is packed twice; unpack it once';
  if (content.length === 0) return 'it is empty; look at what the source sends';
  if (content.toString('latin1', 0, 4) === 'KDMV')
    return 'it is a VMDK disk; convert it with "qemu-img convert -O qcow2"';
  return content.length % 512 === 0 ? undefined : 'it is no disk: no whole number of sectors';
}

/** A file of the simulated qcow2 format: a header of one cell, then the content up to its last written cell. */
export function simulatedQcow2({ cells, bytes }: Pick<SimulatedLayer, 'cells' | 'bytes'>): Uint8Array {
  const last = Math.max(-1, ...cells.keys());
  const file = Buffer.alloc((last + 2) * cellBytes);
  file.writeUInt32BE(qcow2Magic, 0);
  file.writeUInt32BE(3, 4);
  file.writeBigUInt64BE(BigInt(bytes), 24);
  for (const [cell, value] of cells) file.fill(value, (cell + 1) * cellBytes, (cell + 2) * cellBytes);
  return file;
}

function readQcow2(file: Buffer): SimulatedContent {
  if (file.readBigUInt64BE(8) !== 0n)
    throw new SimulatedFault(
      'it needs another file (its backing file); flatten it with "qemu-img convert -O qcow2"',
    );
  const virtualBytes = Number(file.readBigUInt64BE(24));
  return { format: 'qcow2', virtualBytes, cells: cellsOf(file.subarray(cellBytes)), content: file };
}

function cellsOf(content: Buffer): Map<number, number> {
  const cells = new Map<number, number>();
  for (let start = 0; start < content.length; start += cellBytes) {
    const value = content[start] ?? 0;
    if (value !== 0) cells.set(start / cellBytes, value);
  }
  return cells;
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

function unpacked(bytes: Uint8Array, maxBytes: number): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxBytes });
  } catch (error) {
    const isTooLarge = error instanceof RangeError;
    throw new SimulatedFault(
      isTooLarge
        ? `unpacked it has more than the ${maxBytes} bytes that are allowed`
        : 'it cannot be unpacked',
      { cause: error },
    );
  }
}

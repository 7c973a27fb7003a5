import { existsSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { isJsonObject } from '@sheaf/base';
import { differences, type MachineLayout } from './machine-layout.ts';

/**
 * A file with the memory of a machine: one block that says what it fits to, then what the program has written. It has its name when
 * it is whole.
 */
export interface MemoryLabel {
  readonly version: 1;
  /** The version of the program that wrote it. */
  readonly emulator: string;
  readonly accelerator: 'kvm' | 'tcg';
  /** The processor of the host, where guests see it. */
  readonly processor?: string;
  readonly layout: MachineLayout;
}

/** The program reads on from here. */
export const labelBytes = 64 * 1024;

export function partPath(path: string): string {
  return `${path}.part`;
}

/** @throws Error where it does not fit, which takes more devices than a machine can have */
export function labelBlock(label: MemoryLabel): Buffer {
  const block = Buffer.alloc(labelBytes, ' ');
  const text = JSON.stringify(label);
  if (Buffer.byteLength(text) > labelBytes)
    throw new Error('the machine has too many devices to say what its memory fits to');
  block.write(text);
  return block;
}

/** Why a machine cannot go on with the memory in a file; `undefined`: it can. */
export async function obstacleTo(path: string, now: MemoryLabel): Promise<string | undefined> {
  if (!existsSync(path)) return 'it is not there any more';
  const label = await readLabel(path);
  if (!label) return 'it is damaged, or of a later version of Sheaf';
  if (seriesOf(label.emulator) !== seriesOf(now.emulator))
    return `it was kept by QEMU ${label.emulator}, and this is ${now.emulator}`;
  if (label.accelerator !== now.accelerator)
    return `it was kept under ${label.accelerator}, and machines run under ${now.accelerator} now`;
  if (label.processor !== now.processor)
    return `it was kept on a ${label.processor}, and this host has a ${now.processor}`;
  const others = differences(label.layout, now.layout);
  return others.length === 0 ? undefined : `the machine has changed since: ${others.join(', ')}`;
}

/** Within one, what a machine consists of stays the same. */
function seriesOf(version: string): string {
  return version.split('.').slice(0, 2).join('.');
}

async function readLabel(path: string): Promise<MemoryLabel | undefined> {
  const file = await open(path, 'r');
  try {
    return parseLabel(await firstBlock(file));
  } finally {
    await file.close();
  }
}

async function firstBlock(file: FileHandle): Promise<string> {
  const block = Buffer.alloc(labelBytes);
  const { bytesRead } = await file.read(block, 0, labelBytes, 0);
  return block.toString('utf8', 0, bytesRead);
}

function parseLabel(text: string): MemoryLabel | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isJsonObject(found) && found['version'] === 1 ? (found as unknown as MemoryLabel) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

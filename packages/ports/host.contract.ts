import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Host, HostFacts } from './host.ts';

/** A host that a test may change. */
export interface HostBench {
  readonly host: Host;
  /** It is called otherwise from now on. */
  rename(hostname: string): Promise<void>;
  /** It starts again. */
  reboot(): Promise<void>;
  /** Everything that may be unknown becomes so. */
  hide(): Promise<void>;
}

type WithBench = (use: (bench: HostBench) => Promise<void>) => Promise<void>;

const { signal } = new AbortController();
const mayBeUnknown = [
  'availableMemoryBytes',
  'osImage',
  'kernelVersion',
  'bootId',
  'machineId',
  'systemUuid',
  'disk',
  'processes',
  'uptimeSeconds',
] as const;

/** What every driver of `Host` must do. */
export function testHost(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: HostBench) => Promise<void>): void => {
    test(`${driver}: ${name}`, () => withBench(use));
  };
  check('tells facts that can be true', plausible);
  check('looks anew each time', anew);
  check('tells what it cannot find out as unknown, and the rest all the same', unknown);
  check('ends with its signal', ends);
}

async function plausible({ host }: HostBench): Promise<void> {
  const facts = await host.read(signal);
  const { cpuCount, memoryBytes, availableMemoryBytes = 0, disk, processes } = facts;
  assert.ok(Number.isInteger(cpuCount) && cpuCount >= 1);
  assert.ok(memoryBytes > 0 && availableMemoryBytes <= memoryBytes);
  assert.ok(disk && disk.totalBytes >= disk.availableBytes && disk.availableBytes >= 0);
  assert.ok(processes && processes.count >= 1 && processes.limit >= processes.count);
  assert.ok(facts.hostname !== '');
  assert.match(facts.operatingSystem, /^[a-z]+$/);
  assert.match(facts.architecture, /^[a-z][a-z0-9]+$/);
  for (const { family, address } of facts.addresses)
    assert.equal(family, address.includes(':') ? 'IPv6' : 'IPv4');
}

async function anew({ host, rename, reboot }: HostBench): Promise<void> {
  const before = await host.read(signal);
  await rename('another-name');
  await reboot();
  const after = await host.read(signal);
  assert.equal(after.hostname, 'another-name');
  assert.notEqual(after.bootId, before.bootId);
  assert.equal(after.machineId, before.machineId);
}

async function unknown({ host, hide }: HostBench): Promise<void> {
  const before = await host.read(signal);
  await hide();
  const after = await host.read(signal);
  const known = { ...before, ...Object.fromEntries(mayBeUnknown.map((name) => [name, undefined])) };
  assert.deepEqual(after, known as HostFacts);
}

async function ends({ host }: HostBench): Promise<void> {
  await assert.rejects(host.read(AbortSignal.abort(new Error('enough'))), /enough/);
}

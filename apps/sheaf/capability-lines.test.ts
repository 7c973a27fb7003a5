import assert from 'node:assert/strict';
import { it } from 'node:test';
import { capabilityLines } from './capability-lines.ts';

const found = [
  { name: 'machines', isAvailable: false, reason: 'QEMU is missing', wayOut: 'install it' },
  { name: 'volumes', isAvailable: true, reason: 'a directory' },
  { name: 'tpm', isAvailable: false, reason: 'swtpm is missing' },
  { name: 'outside', isAvailable: false, reason: 'passt is missing', wayOut: 'install it' },
];

it('the start says what the host can run, and how to have the rest', async () => {
  const host = { capabilities: () => Promise.resolve(found) };
  assert.equal(
    await capabilityLines(host, new AbortController().signal),
    '  machines: not available: QEMU is missing; to change that: install it\n  volumes: a directory\n',
  );
});

it('the start says when machines that it can run have no way outside', async () => {
  const [, , ...others] = found;
  const machines = { name: 'machines', isAvailable: true, reason: 'QEMU' };
  const host = { capabilities: () => Promise.resolve([machines, ...others]) };
  assert.equal(
    await capabilityLines(host, new AbortController().signal),
    '  machines: QEMU\n  outside: not available: passt is missing; to change that: install it\n',
  );
});

it('a stop within the first look says nothing of a host that nobody has seen', async () => {
  const stopping = new AbortController();
  const { promise, resolve } = Promise.withResolvers<typeof found>();
  const lines = capabilityLines({ capabilities: () => promise }, stopping.signal);
  stopping.abort();
  resolve(found);
  assert.equal(await lines, '');
});

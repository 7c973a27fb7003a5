import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import { systemClock } from '../system/system-clock.ts';
import { KeptFacts } from './kept-facts.ts';
import { QmpClient } from './qmp-client.ts';

const root = await mkdtemp(join(tmpdir(), 'kept-facts-'));
after(() => rm(root, { recursive: true }));
let made = 0;

/** A machine's control socket that says how it is, and counts what it is asked. */
class ToldMachine {
  status = 'prelaunch';
  asked: string[] = [];
  nowMs = 0;
  #socket: Socket | undefined;

  async open(): Promise<KeptFacts> {
    const path = join(root, `${++made}.sock`);
    const server = createServer((socket) => {
      this.#socket = socket;
      this.#say({ QMP: {} });
      socket.setEncoding('utf8').on('data', (text) => {
        for (const line of String(text).split('\n').filter(Boolean))
          this.#answer(JSON.parse(line) as JsonObject);
      });
    });
    await new Promise<void>((resolve) => server.listen(path, resolve));
    const qmp = await QmpClient.connect({
      path,
      clock: systemClock,
      limitMs: 60_000,
      onEvent: () => undefined,
      onClose: () => undefined,
    });
    after(() => {
      qmp.dispose();
      server.close();
    });
    this.control = qmp;
    return new KeptFacts(qmp, { ...systemClock, monotonic: () => this.nowMs });
  }

  control: QmpClient | undefined;

  /** Resolves when the other side has heard of it: what is answered later is read later. */
  async tell(event: string): Promise<void> {
    this.#say({ event });
    await this.control?.execute('query-nothing');
    this.asked = this.asked.filter((each) => each !== 'query-nothing');
  }

  questions(): number {
    const count = this.asked.filter((command) => command !== 'qmp_capabilities').length;
    this.asked = [];
    return count;
  }

  #answer({ execute, id }: JsonObject): void {
    if (typeof execute === 'string') this.asked.push(execute);
    this.#say({ return: execute === 'query-status' ? { status: this.status } : [], id: id ?? 0 });
  }

  #say(message: JsonObject): void {
    this.#socket?.write(`${JSON.stringify(message)}\r\n`);
  }
}

describe('what is known of a machine', () => {
  it('is asked once for a moment, and whether it still stands each time', async () => {
    const machine = new ToldMachine();
    const facts = await machine.open();
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['prelaunch', 7]);
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['prelaunch', 1]);
    machine.status = 'shutdown';
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['shutdown', 1]);
    machine.nowMs = 1000;
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['shutdown', 7]);
  });

  it('is not asked while it runs, until an event tells otherwise or a second is over', async () => {
    const machine = new ToldMachine();
    machine.status = 'running';
    const facts = await machine.open();
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['running', 7]);
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['running', 0]);
    machine.status = 'paused';
    await machine.tell('STOP');
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['paused', 1]);
    machine.status = 'running';
    await machine.tell('RESUME');
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['running', 1]);
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['running', 0]);
    machine.nowMs = 1000;
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['running', 7]);
  });

  it('is asked for anew when a device may have come or gone', async () => {
    const machine = new ToldMachine();
    machine.status = 'running';
    const facts = await machine.open();
    await facts.read();
    machine.questions();
    await machine.tell('DEVICE_DELETED');
    assert.deepEqual([(await facts.read()).status, machine.questions()], ['running', 7]);
  });
});

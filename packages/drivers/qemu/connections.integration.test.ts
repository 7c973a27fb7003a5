import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { JsonObject } from '@sheaf/base';
import { systemClock } from '../system/system-clock.ts';
import { AgentChannel } from './agent-channel.ts';
import { QmpClient, QmpClosed, QmpError, type QmpEvent, QmpSilence } from './qmp-client.ts';
import { SerialConsole } from './serial-console.ts';
import { SerialLog } from './serial-log.ts';
import { connectUnix } from './unix-socket.ts';

const root = await mkdtemp(join(tmpdir(), 'connections-'));
const servers: Server[] = [];
const sockets: Socket[] = [];
after(async () => {
  for (const socket of sockets) socket.destroy();
  for (const server of servers) server.close();
  await rm(root, { recursive: true });
});

let made = 0;

/** A socket that answers each line with what `answer` makes of it. */
async function serve(
  answer: (command: JsonObject, socket: Socket) => void,
  onConnect: (socket: Socket) => void = () => undefined,
): Promise<string> {
  const path = join(root, `${++made}.sock`);
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    socket.setEncoding('utf8').on('data', (text) => {
      for (const line of String(text).split('\n').filter(Boolean))
        answer(JSON.parse(line) as JsonObject, socket);
    });
    onConnect(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

function say(socket: Socket, ...messages: readonly JsonObject[]): void {
  for (const message of messages) socket.write(`${JSON.stringify(message)}\r\n`);
}

interface Heard {
  readonly events: QmpEvent[];
  closes: number;
}

async function connectQmp(path: string, heard: Heard = { events: [], closes: 0 }): Promise<QmpClient> {
  return await QmpClient.connect({
    path,
    clock: systemClock,
    limitMs: 200,
    onEvent: (event) => heard.events.push(event),
    onClose: () => heard.closes++,
  });
}

const greet = (socket: Socket): void => say(socket, { QMP: { version: {} } });

describe('a control connection', () => {
  it('pairs answers with commands, and hears events between them', async () => {
    const heard: Heard = { events: [], closes: 0 };
    const held: JsonObject[] = [];
    const path = await serve((command, socket) => {
      if (command['execute'] === 'qmp_capabilities') return say(socket, { return: {}, id: command['id'] });
      held.push(command);
      if (held.length < 2) return;
      say(socket, { event: 'STOP', data: { why: 1 } });
      for (const { id, execute } of held.reverse()) say(socket, { return: { did: execute }, id });
    }, greet);
    const client = await connectQmp(path, heard);
    assert.deepEqual(await Promise.all([client.execute('a'), client.execute('b')]), [
      { did: 'a' },
      { did: 'b' },
    ]);
    assert.deepEqual(heard.events, [{ name: 'STOP', data: { why: 1 } }]);
    client.dispose();
    assert.equal(heard.closes, 1);
    await assert.rejects(client.execute('c'), QmpClosed);
  });

  it('passes on what the program refused, in its words', async () => {
    const path = await serve(({ execute, id }, socket) => {
      if (execute === 'qmp_capabilities') say(socket, { return: {}, id });
      else say(socket, { error: { class: 'DeviceNotFound', desc: "Device 'x' not found" }, id });
    }, greet);
    const client = await connectQmp(path);
    await assert.rejects(client.execute('device_del'), (error) => {
      assert.ok(error instanceof QmpError);
      assert.deepEqual([error.kind, error.message], ['DeviceNotFound', "device_del: Device 'x' not found"]);
      return true;
    });
    client.dispose();
  });

  it('waits neither for a greeting nor for an answer without end', async () => {
    await assert.rejects(connectQmp(await serve(() => undefined)), QmpSilence);
    const path = await serve(({ execute, id }, socket) => {
      if (execute === 'qmp_capabilities') say(socket, { return: {}, id });
    }, greet);
    const client = await connectQmp(path);
    await assert.rejects(client.execute('query-status'), /query-status: no answer within 200 ms/);
    client.dispose();
  });

  it('tells commands that wait when the connection ends', async () => {
    const heard: Heard = { events: [], closes: 0 };
    const path = await serve(({ execute, id }, socket) => {
      if (execute === 'qmp_capabilities') say(socket, { return: {}, id });
      else socket.destroy();
    }, greet);
    const client = await connectQmp(path, heard);
    await assert.rejects(client.execute('quit'), QmpClosed);
    assert.equal(heard.closes, 1);
    await assert.rejects(connectQmp(join(root, 'absent.sock')), /ENOENT/);
  });

  it('reaches sockets whose paths are longer than the kernel takes', async () => {
    const directory = await mkdtemp(join(root, `${'long'.repeat(30)}-`));
    const path = await serve(({ id }, socket) => say(socket, { return: {}, id }), greet);
    await symlink(path, join(directory, 'control.sock'));
    (await connectUnix(join(directory, 'control.sock'))).destroy();
    (await connectQmp(join(directory, 'control.sock'))).dispose();
  });
});

function openAgent(path: string): AgentChannel {
  let tokens = 0;
  return new AgentChannel({ path, clock: systemClock, limitMs: 200, token: () => ++tokens });
}

describe('the conversation with a guest agent', () => {
  it('uses one connection, and passes over answers to earlier conversations', async () => {
    let connections = 0;
    const path = await serve(
      ({ execute, arguments: args }, socket) => {
        if (execute === 'guest-sync') {
          socket.write('{"broken": \n');
          say(socket, { return: 'of another conversation' }, { return: (args as JsonObject)['id'] });
        } else say(socket, { return: { did: execute } });
      },
      () => connections++,
    );
    const agent = openAgent(path);
    const answers = ['guest-ping', 'guest-info', 'guest-get-osinfo'].map((execute) => agent.ask({ execute }));
    assert.deepEqual(await Promise.all(answers), [
      { did: 'guest-ping' },
      { did: 'guest-info' },
      { did: 'guest-get-osinfo' },
    ]);
    assert.equal(connections, 1);
    agent.dispose();
  });

  it('passes on what the agent refused', async () => {
    const path = await serve(({ execute, arguments: args }, socket) => {
      if (execute === 'guest-sync') say(socket, { return: (args as JsonObject)['id'] });
      else say(socket, { error: { class: 'CommandNotFound', desc: 'no such command' } });
    });
    const agent = openAgent(path);
    await assert.rejects(agent.ask({ execute: 'x' }), /the guest agent refused: no such command/);
    agent.dispose();
  });

  it('gives up on an agent that is silent, and gets into step again', async () => {
    let isSilent = true;
    const path = await serve(({ execute, arguments: args }, socket) => {
      if (execute === 'guest-sync') say(socket, { return: (args as JsonObject)['id'] });
      else if (isSilent) isSilent = false;
      else say(socket, { return: 'late' }, { return: 'in time' });
    });
    const agent = openAgent(path);
    await assert.rejects(agent.ask({ execute: 'guest-ping' }), /did not answer within 200 ms/);
    assert.equal(await agent.ask({ execute: 'guest-ping' }), 'late');
    agent.dispose();
  });

  it('says that the channel was closed, and opens it again', async () => {
    let connections = 0;
    const path = await serve(
      ({ execute, arguments: args }, socket) => {
        if (connections === 1) socket.destroy();
        else say(socket, { return: execute === 'guest-sync' ? (args as JsonObject)['id'] : 'here' });
      },
      () => connections++,
    );
    const agent = openAgent(path);
    await assert.rejects(agent.ask({ execute: 'guest-ping' }), /closed: try again/);
    assert.equal(await agent.ask({ execute: 'guest-ping' }), 'here');
    agent.dispose();
  });
});

describe('a shared serial console', () => {
  it('lets go of a viewer that reads too slowly, and serves the others', async () => {
    let port: Socket | undefined;
    const path = await serve(
      () => undefined,
      (socket) => {
        port = socket;
      },
    );
    const log = new SerialLog({ path: join(root, 'absent.log'), sizeBytes: 1000, count: 1 });
    const serial = new SerialConsole({ path, log, onError: (error) => assert.fail(String(error)) });
    const [slow, quick] = [await serial.open(), await serial.open()];
    let received = 0;
    const reading = (async () => {
      for await (const bytes of quick.readable) received += bytes.length;
    })();
    const block = Buffer.alloc(256 * 1024, 'x');
    for (let count = 1; count <= 8; count++) {
      port?.write(block);
      while (received < count * block.length) await new Promise((resolve) => setImmediate(resolve));
    }
    await assert.rejects(async () => {
      for await (const bytes of slow.readable) void bytes;
    }, /reads too slowly/);
    serial.close();
    await reading;
    assert.equal(received, 8 * block.length);
  });
});

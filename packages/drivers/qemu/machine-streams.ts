import { readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { type JsonValue, StatusError } from '@sheaf/base';
import type { ByteStream, PortForward } from '@sheaf/ports';
import { datagramStream } from './datagram-stream.ts';
import { fileNames, netdevId } from './device-names.ts';
import type { MachineHost } from './host.ts';
import type { Machine } from './machine.ts';
import { parsePodNics, readFacts } from './machine-facts.ts';
import { serialLog } from './machine-link.ts';
import type { PodForward } from './pod-network.ts';
import { socketStream, within } from './socket-stream.ts';
import { connected, connectUnix } from './unix-socket.ts';

export async function screenshot(machine: Machine, host: MachineHost): Promise<Uint8Array> {
  const { record } = await machine.link();
  if (!record.spec.hasGraphics) throw lacks(machine, 'a screen');
  const name = `screen-${host.random.uuid()}.png`;
  const path = machine.files.path(name);
  try {
    await machine.execute('screendump', { filename: name, format: 'png' });
    return await readFile(path);
  } finally {
    await rm(path, { force: true });
  }
}

export async function openSerial(machine: Machine): Promise<ByteStream> {
  const { link } = await machine.link();
  if (!link.serial) throw lacks(machine, 'a serial console');
  return await link.serial.open();
}

export async function openScreen(machine: Machine): Promise<ByteStream> {
  const { record } = await machine.link();
  if (!record.spec.hasGraphics) throw lacks(machine, 'a screen');
  return socketStream(await connectUnix(machine.files.path(fileNames.screen)));
}

export async function readSerialLog(
  machine: Machine,
  host: MachineHost,
  tailBytes: number,
): Promise<Uint8Array> {
  if (!(await machine.files.readRecord())) throw absent(machine);
  return await serialLog(machine.files, host).tail(tailBytes);
}

/** Adds a forward to the port where there is none. */
export async function openPort(machine: Machine, host: MachineHost, port: PortForward): Promise<ByteStream> {
  const hostPort =
    (await takePodForward(machine, port)) ??
    (await findForward(machine, port)) ??
    (await addForward(machine, port));
  if (port.protocol === 'udp') return await datagramStream(hostPort);
  const { clock, limits } = host;
  const words = `${wordsOf(port)} of machine ${machine.id} could not be reached in time`;
  const socket = connect({ host: '127.0.0.1', port: hostPort });
  try {
    return socketStream(await within(connected(socket), { clock, limitMs: limits.answerMs, words }));
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

export async function askAgent(
  machine: Machine,
  command: { readonly execute: string; readonly arguments?: unknown },
): Promise<unknown> {
  const { link } = await machine.link();
  if (!link.agent) throw lacks(machine, 'a channel for a guest agent');
  const { isAgentConnected } = await readFacts(link.qmp);
  // Its channel is opened only when the guest listens.
  if (!isAgentConnected)
    throw new StatusError({
      reason: 'ServiceUnavailable',
      message: `no guest agent listens in machine ${machine.id}: install and start qemu-guest-agent in the guest`,
    });
  const { execute } = command;
  const args = command.arguments as JsonValue | undefined;
  return await link.agent.ask(args === undefined ? { execute } : { execute, arguments: args });
}

async function findForward(machine: Machine, port: PortForward): Promise<number | undefined> {
  const { link } = await machine.link();
  const { forwards } = await readFacts(link.qmp);
  return forwards.find((forward) => isSame(forward, port))?.hostPort;
}

function isSame(one: PortForward, other: PortForward): boolean {
  return one.protocol === other.protocol && one.guestPort === other.guestPort;
}

function wordsOf({ protocol, guestPort }: PortForward): string {
  return `port ${guestPort}/${protocol}`;
}

/** The forward of a pod network that is a process of its own: it was made with that, if at all. */
async function takePodForward(machine: Machine, port: PortForward): Promise<number | undefined> {
  await machine.link();
  const { podNetworks = {} } = await machine.files.readNotes();
  const isIt = (forward: PodForward): boolean => isSame(forward, port);
  const found = Object.values(podNetworks).flat().find(isIt);
  if (found && !found.isWanted)
    await machine.files.updateNotes((notes) => ({
      ...notes,
      podNetworks: mapValues(notes.podNetworks ?? {}, (forwards) =>
        forwards.map((each) => (isIt(each) ? { ...each, isWanted: true } : each)),
      ),
    }));
  if (found || Object.keys(podNetworks).length === 0) return found?.hostPort;
  throw new StatusError({
    reason: 'BadRequest',
    message: `${wordsOf(port)} of machine ${machine.id} is not forwarded, and its network takes no new forwards while it runs: name the port in the ports of the machine's interface and start it again`,
  });
}

function mapValues<T>(object: Readonly<Record<string, T>>, map: (value: T) => T): Record<string, T> {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, map(value)]));
}

async function addForward(machine: Machine, port: PortForward): Promise<number> {
  const command = (line: string): Promise<JsonValue> =>
    machine.execute('human-monitor-command', { 'command-line': line });
  const network = await command('info usernet');
  const [nic] = typeof network === 'string' ? parsePodNics(network) : [];
  if (nic === undefined) throw lacks(machine, 'a network card on the pod network');
  const words = await command(`hostfwd_add ${netdevId(nic)} ${port.protocol}:127.0.0.1:0-:${port.guestPort}`);
  const hostPort = await findForward(machine, port);
  if (hostPort === undefined)
    throw new Error(`${wordsOf(port)} could not be forwarded: ${JSON.stringify(words)}`);
  return hostPort;
}

function lacks(machine: Machine, what: string): StatusError {
  return new StatusError({
    reason: 'BadRequest',
    message: `machine ${machine.id} has not ${what}: start it with one`,
  });
}

function absent(machine: Machine): StatusError {
  return new StatusError({ reason: 'NotFound', message: `there is no machine ${machine.id}` });
}

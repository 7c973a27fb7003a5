/**
 * What a guest on the pod network reaches, in a network namespace of this process's own whose default route leads to a second
 * one, the outside, and whose resolver is on its loopback. Arguments: a directory, and what is run as the pod network. Prints one
 * line of JSON. Ends everything that it makes: the namespaces go with the processes in them.
 */
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { systemClock } from '../system/system-clock.ts';
import { MachineFiles } from './machine-files.ts';
import { endAllPasst, ensurePasst } from './passt.ts';
import type { Passt } from './passt-command.ts';
import { FrameStream } from './pod-guest.fixture.ts';
import { currentBootId } from './process-identity.ts';
import { runProgram } from './run-program.ts';
import { connectUnix } from './unix-socket.ts';

const here = '198.51.100.2';
const outside = '198.51.100.1';
const outsidePort = 8080;
/** Of /etc/resolv.conf, as on hosts with a resolver of their own. */
const hostResolver = '127.0.0.53';

const keepAlive = setInterval(() => undefined, 1000);
const listen = `require('net').createServer((s) => s.end('hello')).listen(${outsidePort}, '${outside}', () => console.log('ready'))`;
const neighbour = spawn(
  'unshare',
  [
    '--net',
    'sh',
    '-c',
    `read -r go && ip link set lo up && ip link set out0 up && ip addr add ${outside}/24 dev out0 && exec "$0" -e "$1"`,
    process.execPath,
    listen,
  ],
  { stdio: ['pipe', 'pipe', 'inherit'] },
);
try {
  while ((await namespaceOf(neighbour.pid)) === (await namespaceOf(process.pid))) await pass(5);
  await ip('link', 'set', 'lo', 'up');
  await ip('link', 'add', 'up0', 'type', 'veth', 'peer', 'name', 'out0');
  await ip('link', 'set', 'out0', 'netns', String(neighbour.pid));
  await ip('addr', 'add', `${here}/24`, 'dev', 'up0');
  await ip('link', 'set', 'up0', 'up');
  await ip('route', 'add', 'default', 'via', outside);
  neighbour.stdin.write('go\n');
  await once(neighbour.stdout, 'data');
  process.stdout.write(JSON.stringify(await look()));
} finally {
  neighbour.kill('SIGKILL');
  clearInterval(keepAlive);
}

async function look(): Promise<Readonly<Record<string, unknown>>> {
  const [, , directory = '/tmp', passt = '{}'] = process.argv;
  const files = new MachineFiles(await mkdtemp(join(directory, 'reach-')));
  const host = {
    passt: JSON.parse(passt) as Passt,
    bootId: currentBootId(),
    clock: systemClock,
    limitMs: 5000,
  };
  const nic = { name: 'pod', model: 'virtio', mac: '', link: { kind: 'user' } } as const;
  let visitors = 0;
  const local = createServer((socket) => {
    visitors += 1;
    socket.end('a secret');
  }).listen(0, '127.0.0.1');
  const neighbourly = createServer((socket) => socket.end('hello')).listen(0, here);
  const resolver = createSocket('udp4').bind(53, hostResolver);
  resolver.on('message', (_, { address, port }) => resolver.send('an address', port, address));
  await Promise.all([local, neighbourly, resolver].map((server) => once(server, 'listening')));
  const port = portOf(local);
  try {
    const guest = new FrameStream(await connectUnix(files.path(await ensurePasst(files, nic, host))));
    const lease = await guest.lease();
    const reach = (to: string, at: number): Promise<string> => guest.connect({ address: to, port: at });
    for (const address of ['127.0.0.1', hostResolver, '0.0.0.0', lease.gateway, lease.resolver])
      guest.knock({ address, port });
    const found = {
      ...lease,
      outside: await reach(outside, outsidePort),
      host: await reach(here, portOf(neighbourly)),
      name: await guest.ask(lease.resolver),
    };
    const { podNetworks = {} } = await files.readNotes();
    const hostPort = (guestPort: number): number =>
      podNetworks['pod']?.find((forward) => forward.guestPort === guestPort)?.hostPort ?? 0;
    const client = connect({ host: '127.0.0.1', port: hostPort(25) }).setEncoding('utf8');
    const first = once(client, 'data') as Promise<[string]>;
    const greeted = await guest.greet('220 a service that speaks first');
    const [words] = await first;
    client.destroy();
    const sender = createSocket('udp4');
    sender.connect(hostPort(123), '127.0.0.1');
    await once(sender, 'connect');
    const answer = once(sender, 'message') as Promise<[Buffer]>;
    sender.send('what time is it');
    await guest.echo(123);
    const [echo] = await answer;
    sender.close();
    return { ...found, visitors, greeted, words, echo: String(echo) };
  } finally {
    local.close();
    neighbourly.close();
    resolver.close();
    await endAllPasst(files, host);
  }
}

function portOf(server: ReturnType<typeof createServer>): number {
  return (server.address() as AddressInfo).port;
}

async function ip(...args: readonly string[]): Promise<void> {
  const { status, errors } = await runProgram('ip', args);
  if (status !== 0) throw new Error(`ip ${args.join(' ')}: ${errors}`);
}

async function namespaceOf(pid: number | undefined): Promise<string> {
  const { output } = await runProgram('readlink', [`/proc/${pid}/ns/net`]);
  return output.trim();
}

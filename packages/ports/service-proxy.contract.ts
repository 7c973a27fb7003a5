import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Disposable } from '@sheaf/base';
import { StatusError } from '@sheaf/base';
import type { ProxiedPort, ProxiedService, ProxyBackend, ServiceProxy } from './service-proxy.ts';

export interface BenchTarget {
  readonly protocol: ProxiedPort['protocol'];
  readonly address: string;
  readonly port: number;
}

/** Answers on port 8080, TCP and UDP, with its name and who asked. */
export interface BenchPod {
  readonly name: string;
  readonly address: string;
  remove(): Promise<void>;
}

/** A host with pods. Those that ask are `host`, or the name of a pod. */
export interface ServiceBench {
  /** A driver on this host; the one before is gone as if it had been killed. */
  open(): ServiceProxy;
  /** Another Sheaf on this host, without pods of its own. */
  openOther(): ServiceProxy;
  addPod(name: string): Promise<BenchPod>;
  /** One on the loopback of the host that answers as `host part`. */
  addPart(): Promise<ProxyBackend>;
  /** Of the network of Services; another one for each number from 1 to 9. */
  serviceAddress(number: number): string;
  /** One that is free on this host. */
  freePort(): Promise<number>;
  /** Another program takes a port of the host. */
  takePort(protocol: ProxiedPort['protocol'], port: number): Promise<Disposable>;
  /** Who answered, and as whom he saw the one who asked; `undefined`: refused at once. */
  ask(
    from: string,
    target: BenchTarget,
  ): Promise<{ readonly name: string; readonly client: string } | undefined>;
  /** Sends without a pause from one UDP socket, until `claim` is true of who answers. */
  sendUntil(from: string, target: BenchTarget, claim: (name: string) => boolean): Promise<void>;
  /** Somebody takes all rules away. */
  flush(): Promise<void>;
  /** All that is kept on the host for Services of this Sheaf, and not for pods. */
  traces(): Promise<readonly string[]>;
}

type WithBench = (use: (bench: ServiceBench) => Promise<void>) => Promise<void>;

const { signal } = new AbortController();
const podPort = 8080;
const rounds = 40;

/** What every driver of `ServiceProxy` must do. */
export function testServiceProxy(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: ServiceBench, context: TestContext) => Promise<void>): void => {
    test(`${driver}: ${name}`, (context) => withBench((bench) => use(bench, context)));
  };
  check('what it can do is told once it has looked', tellsCapabilities);
  check('pods and the host reach each backend, and none that has gone', reachesBackends);
  check('each port leads to its own backends, over TCP and UDP', leadsByPort);
  check('a pod reaches itself by its Service', reachesItself);
  check('a Service without backends, and one that nobody has, are refused at once', refuses);
  check('ports and external addresses of the host are for everybody', servesOutside);
  check('who has come comes to the same backend again', sticks);
  check('a port that another program has stays its own', leavesTakenPorts);
  check('pods reach a part of this process on the loopback', reachesParts);
  check('what others take away is made again; another life makes exactly what is wished', makesAgain);
  check('two Sheafs leave each other alone', livesWithOthers);
  check('nothing is left when no pod is', leavesNothing);
  check('a UDP client that never pauses is moved from a backend that has gone', movesUdp);
}

interface Wish {
  readonly number?: number;
  readonly pods: readonly BenchPod[];
  readonly port?: Partial<ProxiedPort>;
  readonly more?: Partial<ProxiedService>;
}

function service(bench: ServiceBench, { number = 1, pods, port, more }: Wish): ProxiedService {
  const backends = pods.map(({ address }) => ({ address, port: podPort }));
  return {
    id: `default/web-${number}`,
    addresses: [bench.serviceAddress(number)],
    externalAddresses: [],
    ports: [{ protocol: 'TCP', port: 80, backends, outsideBackends: backends, ...port }],
    ...more,
  };
}

function tcp(address: string, port = 80): BenchTarget {
  return { protocol: 'TCP', address, port };
}

function udp(address: string, port = 80): BenchTarget {
  return { protocol: 'UDP', address, port };
}

async function opened(bench: ServiceBench): Promise<ServiceProxy> {
  const proxy = bench.open();
  await proxy.probe(signal);
  return proxy;
}

async function namesOf(bench: ServiceBench, from: string, target: BenchTarget): Promise<readonly string[]> {
  const found = new Set<string>();
  for (let round = 0; round < rounds; round++) found.add((await bench.ask(from, target))?.name ?? 'refused');
  return [...found].toSorted((a, b) => a.localeCompare(b));
}

async function tellsCapabilities(bench: ServiceBench): Promise<void> {
  const proxy = bench.open();
  assert.equal(proxy.capabilities().services.isAvailable, false);
  assert.deepEqual(await proxy.apply([], signal), [], 'there is nothing to do');
  const wish = [service(bench, { pods: [await bench.addPod('one')] })];
  await assert.rejects(proxy.apply(wish, signal), (error) => StatusError.is(error, 'ServiceUnavailable'));
  const found = await proxy.probe(signal);
  assert.equal(found.services.isAvailable, true, found.services.reason);
  assert.deepEqual(proxy.capabilities(), found);
  for (const capability of Object.values(found)) if (!capability.isAvailable) assert.ok(capability.wayOut);
  await assert.rejects(proxy.apply([], AbortSignal.abort(new Error('enough'))), /enough/);
}

async function reachesBackends(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const [one, two, three] = [
    await bench.addPod('one'),
    await bench.addPod('two'),
    await bench.addPod('three'),
  ];
  await bench.addPod('asks');
  const address = bench.serviceAddress(1);
  assert.deepEqual(await proxy.apply([service(bench, { pods: [one, two, three] })], signal), []);
  for (const from of ['asks', 'host'])
    assert.deepEqual(await namesOf(bench, from, tcp(address)), ['one', 'three', 'two']);
  await two.remove();
  await proxy.apply([service(bench, { pods: [one, three] })], signal);
  for (const from of ['asks', 'host'])
    assert.deepEqual(await namesOf(bench, from, tcp(address)), ['one', 'three']);
}

async function leadsByPort(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const [one, two] = [await bench.addPod('one'), await bench.addPod('two')];
  const to = ({ address }: BenchPod): Pick<ProxiedPort, 'backends' | 'outsideBackends'> => ({
    backends: [{ address, port: podPort }],
    outsideBackends: [],
  });
  const ports: ProxiedPort[] = [
    { protocol: 'TCP', port: 80, ...to(one) },
    { protocol: 'TCP', port: 81, ...to(two) },
    { protocol: 'UDP', port: 80, ...to(two) },
  ];
  assert.deepEqual(await proxy.apply([service(bench, { pods: [], more: { ports } })], signal), []);
  const address = bench.serviceAddress(1);
  for (const from of ['one', 'host']) {
    assert.equal((await bench.ask(from, tcp(address, 80)))?.name, 'one');
    assert.equal((await bench.ask(from, tcp(address, 81)))?.name, 'two');
    assert.equal((await bench.ask(from, udp(address, 80)))?.name, 'two');
  }
  assert.equal(
    (await bench.ask('one', tcp(address, 81)))?.client,
    one.address,
    'a pod is seen by its own address',
  );
}

async function reachesItself(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const one = await bench.addPod('one');
  await proxy.apply([service(bench, { pods: [one] })], signal);
  assert.equal((await bench.ask('one', tcp(bench.serviceAddress(1))))?.name, 'one');
}

async function refuses(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  await bench.addPod('asks');
  const nodePort = await bench.freePort();
  const empty = service(bench, { pods: [], port: { nodePort } });
  const alsoUdp = {
    ...empty,
    ports: [...empty.ports, { ...empty.ports[0], protocol: 'UDP' } as ProxiedPort],
  };
  assert.deepEqual(await proxy.apply([alsoUdp], signal), []);
  for (const from of ['asks', 'host'])
    for (const target of [tcp, udp])
      assert.equal(await bench.ask(from, target(bench.serviceAddress(1))), undefined);
  assert.equal(await bench.ask('host', tcp('127.0.0.1', nodePort)), undefined);
  for (const target of [tcp, udp])
    assert.equal(await bench.ask('asks', target(bench.serviceAddress(2))), undefined);
}

async function servesOutside(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const [one, asks] = [await bench.addPod('one'), await bench.addPod('asks')];
  const nodePort = await bench.freePort();
  const external = bench.serviceAddress(9);
  const wish = service(bench, { pods: [one], port: { nodePort }, more: { externalAddresses: [external] } });
  const problems = await proxy.apply(
    [{ ...wish, ports: [...wish.ports, { ...wish.ports[0], protocol: 'UDP' } as ProxiedPort] }],
    signal,
  );
  assert.deepEqual(problems, []);
  for (const target of [tcp, udp]) {
    assert.equal((await bench.ask('host', target('127.0.0.1', nodePort)))?.name, 'one');
    assert.equal((await bench.ask('host', target(external)))?.name, 'one');
    assert.equal((await bench.ask('asks', target(external)))?.name, 'one');
  }
  assert.ok(asks.address);
  await proxy.apply([service(bench, { pods: [one] })], signal);
  assert.equal(await bench.ask('host', tcp('127.0.0.1', nodePort)), undefined, 'the port is free again');
}

async function sticks(bench: ServiceBench, context: TestContext): Promise<void> {
  const proxy = await opened(bench);
  const { affinity } = proxy.capabilities();
  if (!affinity.isAvailable) return context.skip(`${affinity.reason}: ${affinity.wayOut}`);
  const pods = [await bench.addPod('one'), await bench.addPod('two'), await bench.addPod('three')];
  const more = { affinitySeconds: 3600 };
  await proxy.apply([service(bench, { pods, more })], signal);
  for (const from of ['one', 'host']) {
    const names = await namesOf(bench, from, tcp(bench.serviceAddress(1)));
    assert.equal(names.length, 1, `${from} came to ${names.join()}`);
    const left = pods.filter(({ name }) => name !== names[0]);
    await proxy.apply([service(bench, { pods: left, more })], signal);
    const next = await namesOf(bench, from, tcp(bench.serviceAddress(1)));
    assert.equal(next.length, 1);
    assert.notDeepEqual(next, names);
    await proxy.apply([service(bench, { pods, more })], signal);
  }
}

async function leavesTakenPorts(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const one = await bench.addPod('one');
  const nodePort = await bench.freePort();
  for (const protocol of ['TCP', 'UDP'] as const) {
    const program = await bench.takePort(protocol, nodePort);
    const wishes = [
      service(bench, { pods: [one], port: { protocol, nodePort } }),
      service(bench, { number: 2, pods: [one], port: { protocol } }),
    ];
    const [problem, ...others] = await proxy.apply(wishes, signal);
    assert.deepEqual(others, []);
    assert.equal(problem?.serviceId, 'default/web-1');
    assert.equal(problem.reason, 'NodePortInUse');
    assert.match(problem.message, new RegExp(`port ${nodePort} \\(${protocol}\\)`));
    for (const number of [1, 2])
      assert.equal(
        (await bench.ask('host', { ...tcp(bench.serviceAddress(number)), protocol }))?.name,
        'one',
      );
    program.dispose();
    let left = await proxy.apply(wishes, signal);
    // The system frees a port a moment after it was closed.
    while (left.length > 0) left = await proxy.apply(wishes, signal);
    assert.equal((await bench.ask('host', { ...tcp('127.0.0.1', nodePort), protocol }))?.name, 'one');
  }
}

async function reachesParts(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const one = await bench.addPod('one');
  const part = await bench.addPart();
  const nodePort = await bench.freePort();
  const port = { backends: [part], outsideBackends: [part] };
  const wishes = [
    service(bench, { pods: [], port: { ...port, nodePort } }),
    service(bench, { number: 2, pods: [], port: { ...port, protocol: 'UDP' } }),
  ];
  await proxy.apply(wishes, signal);
  const client = one.address;
  assert.deepEqual(await bench.ask('one', tcp(bench.serviceAddress(1))), { name: 'host part', client });
  assert.deepEqual(await bench.ask('one', udp(bench.serviceAddress(2))), { name: 'host part', client });
  assert.equal((await bench.ask('host', tcp(bench.serviceAddress(1))))?.name, 'host part');
  assert.equal(await bench.ask('host', tcp('127.0.0.1', nodePort)), undefined, 'it is for nobody outside');
}

async function makesAgain(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const [one, two] = [await bench.addPod('one'), await bench.addPod('two')];
  const first = [service(bench, { pods: [one] }), service(bench, { number: 2, pods: [one] })];
  await proxy.apply(first, signal);
  const traces = await bench.traces();
  await bench.flush();
  await proxy.apply(first, signal);
  assert.deepEqual(await bench.traces(), traces);
  assert.equal((await bench.ask('two', tcp(bench.serviceAddress(2))))?.name, 'one');
  const next = await opened(bench);
  assert.equal((await bench.ask('two', tcp(bench.serviceAddress(1))))?.name, 'one', 'pods go on meanwhile');
  await next.apply([service(bench, { pods: [two] })], signal);
  assert.deepEqual(await namesOf(bench, 'one', tcp(bench.serviceAddress(1))), ['two']);
  assert.equal(await bench.ask('one', tcp(bench.serviceAddress(2))), undefined);
  await next.apply(first, signal);
  assert.deepEqual(await bench.traces(), traces);
}

async function livesWithOthers(bench: ServiceBench): Promise<void> {
  const proxy = await opened(bench);
  const other = bench.openOther();
  await other.probe(signal);
  const [one, two] = [await bench.addPod('one'), await bench.addPod('two')];
  await proxy.apply([service(bench, { pods: [one] })], signal);
  const traces = await bench.traces();
  await other.apply([service(bench, { number: 2, pods: [two] })], signal);
  assert.deepEqual(await bench.traces(), traces);
  assert.equal((await bench.ask('host', tcp(bench.serviceAddress(1))))?.name, 'one');
  assert.equal((await bench.ask('host', tcp(bench.serviceAddress(2))))?.name, 'two');
  await proxy.apply([], signal);
  assert.equal((await bench.ask('host', tcp(bench.serviceAddress(2))))?.name, 'two');
  await other.release(signal);
}

async function leavesNothing(bench: ServiceBench): Promise<void> {
  const before = await bench.traces();
  const proxy = await opened(bench);
  const one = await bench.addPod('one');
  const nodePort = await bench.freePort();
  const wish = [service(bench, { pods: [one], port: { nodePort }, more: { affinitySeconds: 60 } })];
  await proxy.apply(wish, signal);
  await proxy.release(signal);
  assert.equal((await bench.ask('one', tcp(bench.serviceAddress(1))))?.name, 'one', 'pods run on');
  await one.remove();
  await proxy.release(signal);
  proxy.dispose();
  assert.deepEqual(await bench.traces(), before);
  const taken = await bench.takePort('TCP', nodePort);
  taken.dispose();
}

async function movesUdp(bench: ServiceBench, context: TestContext): Promise<void> {
  const proxy = await opened(bench);
  const { udpMoves } = proxy.capabilities();
  if (!udpMoves.isAvailable) return context.skip(`${udpMoves.reason}: ${udpMoves.wayOut}`);
  const [one, two] = [await bench.addPod('one'), await bench.addPod('two')];
  await bench.addPod('asks');
  const port = { protocol: 'UDP' } as const;
  await proxy.apply([service(bench, { pods: [one], port })], signal);
  let moved: Promise<unknown> | undefined;
  await bench.sendUntil('asks', udp(bench.serviceAddress(1)), (name) => {
    if (name === 'one') moved ??= proxy.apply([service(bench, { pods: [two], port })], signal);
    return name === 'two';
  });
  await moved;
}

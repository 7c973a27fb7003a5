import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NameAnswer, NameQuestion, NameRecord, NameServer } from './name-server.ts';

/** What a client makes of an answer: records as `NAME TYPE DATA`, in order of the alphabet, or why there are none. */
export type Outcome = readonly string[] | 'absent' | 'nothing' | 'failed';

/** What a resolver of the host says: addresses of a name, that there is none, or no word at all. */
export type ResolverAnswer = readonly string[] | 'absent' | 'silence';

export interface NameBench {
  readonly server: NameServer;
  /** Asked after those before it have not answered. */
  addResolver(answer: (question: NameQuestion) => ResolverAnswer): Promise<void>;
  addSearch(domain: string): Promise<void>;
  /** With a client that others have written, where there is one. Bounded by the client's own patience. */
  ask(name: string, type: 'A' | 'AAAA' | 'SRV' | 'PTR' | 'TXT' | 'CNAME' | 'NS' | 'SOA'): Promise<Outcome>;
}

type WithBench = (use: (bench: NameBench) => Promise<void>) => Promise<void>;

const zone = 'cluster.local';

/** What every driver of `NameServer` must do. */
export function testNameServer(driver: string, withBench: WithBench): void {
  const check = (name: string, use: (bench: NameBench) => Promise<void>): void => {
    test(`${driver}: ${name}`, () => withBench(use));
  };
  check('records of each type are answered', answersRecords);
  check(
    'a name without such records, one that is not there, and one that nobody knows yet are told apart',
    tellsApart,
  );
  check('answers of any length come whole', answersAtLength);
  check('what is elsewhere is asked for at the resolvers of the host', passesOn);
  check('what is behind an alias is answered with it', follows);
  check('a resolver that says nothing keeps nobody waiting', survivesSilence);
  check('many may ask at once', answersMany);
}

function records(all: readonly NameRecord[]): NameAnswer {
  return { kind: 'records', zone, records: all };
}

/** What has this address alone. */
function at({ name, type }: NameQuestion, address: string): NameAnswer {
  return records(type === 'A' ? [{ name, type, address }] : []);
}

function addresses(name: string, count: number): readonly NameRecord[] {
  return Array.from({ length: count }, (_, index) => ({
    name,
    type: 'A',
    address: `10.${index >> 8}.${index & 255}.7`,
  }));
}

async function answersRecords({ server, ask }: NameBench): Promise<void> {
  const name = 'web.shop.svc.cluster.local';
  const all: readonly NameRecord[] = [
    { name, type: 'A', address: '10.43.0.5' },
    { name, type: 'A', address: '10.43.0.6' },
    { name, type: 'AAAA', address: 'fd00::1:0:7' },
    { name, type: 'SRV', weight: 50, port: 8080, target: `one.${name}` },
    { name, type: 'SRV', weight: 50, port: 8080, target: `two.${name}` },
    { name, type: 'PTR', target: 'somebody.example' },
    { name, type: 'TXT', text: '1.1.0' },
    { name, type: 'NS', target: 'ns.dns.cluster.local' },
    { name, type: 'SOA', server: 'ns.dns.cluster.local', mailbox: 'hostmaster.cluster.local', serial: 1 },
  ];
  await server.start(({ type }) => ({
    ...records(all.filter((record) => record.type === type)),
    further: [{ name: `one.${name}`, type: 'A', address: '10.42.0.2' }],
  }));
  assert.deepEqual(await ask(name, 'A'), [`${name} A 10.43.0.5`, `${name} A 10.43.0.6`]);
  assert.deepEqual(await ask('WEB.shop.SVC.cluster.local', 'AAAA'), [`${name} AAAA fd00::1:0:7`]);
  assert.deepEqual(await ask(name, 'SRV'), [
    `${name} SRV 50 8080 one.${name}`,
    `${name} SRV 50 8080 two.${name}`,
  ]);
  assert.deepEqual(await ask(name, 'PTR'), [`${name} PTR somebody.example`]);
  assert.deepEqual(await ask(name, 'TXT'), [`${name} TXT 1.1.0`]);
  assert.deepEqual(await ask(name, 'NS'), [`${name} NS ns.dns.cluster.local`]);
  assert.deepEqual(await ask(name, 'SOA'), [`${name} SOA ns.dns.cluster.local hostmaster.cluster.local 1`]);
}

async function tellsApart({ server, ask }: NameBench): Promise<void> {
  await server.start(({ name }) => {
    if (name === 'there') return records([]);
    return name === 'soon' ? { kind: 'later' } : { kind: 'absent', zone };
  });
  assert.equal(await ask('there', 'A'), 'nothing');
  assert.equal(await ask('not.there', 'A'), 'absent');
  assert.equal(await ask('soon', 'A'), 'failed');
}

async function answersAtLength({ server, ask }: NameBench): Promise<void> {
  await server.start(({ name, type }) =>
    records(type === 'A' ? addresses(name, Number(name.split('.')[0])) : []),
  );
  for (const count of [1, 29, 30, 80, 1000]) {
    const found = await ask(`${count}.cluster.local`, 'A');
    assert.equal(typeof found === 'string' ? found : new Set(found).size, count);
  }
}

async function passesOn({ server, ask, addResolver, addSearch }: NameBench): Promise<void> {
  await addResolver(({ name }) => {
    if (name === 'there.example') return ['192.0.2.1', '192.0.2.2'];
    return name === 'many.example' ? addresses(name, 200).map((_, index) => `192.0.2.${index}`) : 'absent';
  });
  await addSearch('host.example');
  await server.start(() => ({ kind: 'elsewhere' }));
  assert.deepEqual(await ask('there.example', 'A'), [
    'there.example A 192.0.2.1',
    'there.example A 192.0.2.2',
  ]);
  assert.equal((await ask('many.example', 'A')).length, 200);
  assert.equal(await ask('not.example', 'A'), 'absent');
  assert.deepEqual(server.searches(), ['host.example']);
}

async function follows({ server, ask, addResolver }: NameBench): Promise<void> {
  await addResolver(({ name }) => (name === 'db.example' ? ['192.0.2.1'] : 'absent'));
  const aliases = new Map([
    ['far.local', 'db.example'],
    ['near.local', 'web.local'],
    ['second.local', 'near.local'],
    ['gone.local', 'none.example'],
    ['round.local', 'round.local'],
  ]);
  await server.start((question) => {
    const target = aliases.get(question.name);
    if (target !== undefined) return { kind: 'alias', target };
    return question.name.endsWith('.local') ? at(question, '10.43.0.5') : { kind: 'elsewhere' };
  });
  assert.deepEqual(await ask('far.local', 'A'), ['db.example A 192.0.2.1']);
  assert.deepEqual(await ask('near.local', 'A'), ['web.local A 10.43.0.5']);
  assert.deepEqual(await ask('second.local', 'A'), ['web.local A 10.43.0.5']);
  assert.deepEqual(await ask('far.local', 'CNAME'), ['far.local CNAME db.example']);
  assert.equal(await ask('gone.local', 'A'), 'absent');
  assert.equal(await ask('round.local', 'A'), 'failed');
}

async function survivesSilence({ server, ask, addResolver }: NameBench): Promise<void> {
  await addResolver(() => 'silence');
  await server.start((question) =>
    question.name === 'here' ? at(question, '10.43.0.5') : { kind: 'elsewhere' },
  );
  const far = ask('there.example', 'A');
  assert.deepEqual(await ask('here', 'A'), ['here A 10.43.0.5']);
  assert.equal(await far, 'failed');
}

async function answersMany({ server, ask, addResolver }: NameBench): Promise<void> {
  await addResolver(({ name }) => [`192.0.2.${name.split('.')[0]}`]);
  await server.start((question) =>
    question.name.endsWith('.local')
      ? at(question, `10.43.0.${question.name.split('.')[0]}`)
      : { kind: 'elsewhere' },
  );
  const names = Array.from(
    { length: 100 },
    (_, index) => `${index}.${index % 2 === 0 ? 'local' : 'example'}`,
  );
  const found = await Promise.all(names.map((name) => ask(name, 'A')));
  assert.deepEqual(
    found,
    names.map((name, index) => [`${name} A ${index % 2 === 0 ? '10.43.0' : '192.0.2'}.${index}`]),
  );
}

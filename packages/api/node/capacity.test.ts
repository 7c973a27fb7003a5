import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { allocatableOf, findShortages, requestsAt, requestsOf, shortageText } from './capacity.ts';

const gibibyte = 2 ** 30;
const once = { cpu: 100, memory: 100 };

describe('what a machine takes of a node', () => {
  it('is what it requests, else its size divided by the over-commitment', () => {
    const shares = { cpu: 1000, memory: 150 };
    const cpu = { sockets: 1, cores: 4, threads: 2 };
    assert.deepEqual(
      [
        requestsOf({ cpu, memory: { guest: '3Gi' } }, shares),
        requestsOf({ cpu, memory: { guest: '3Gi' } }, once),
        requestsOf({ resources: { limits: { cpu: 2, memory: '3Gi' } } }, shares),
        requestsOf({ resources: { limits: { cpu: 2 }, requests: { cpu: '250m', memory: '1Gi' } } }, shares),
        requestsOf({}, shares),
      ],
      [
        { cpuMillis: 800, memoryBytes: 2 * gibibyte },
        { cpuMillis: 8000, memoryBytes: 3 * gibibyte },
        { cpuMillis: 200, memoryBytes: 2 * gibibyte },
        { cpuMillis: 250, memoryBytes: gibibyte },
        { cpuMillis: 100, memoryBytes: 0 },
      ],
    );
  });
});

describe('what a machine takes at another size', () => {
  const shares = { cpu: 1000, memory: 150 };
  const at = (domain: Parameters<typeof requestsOf>[0], sockets: number, gibibytes: number) => {
    const { cpuMillis, memoryBytes } = requestsAt(
      domain,
      { sockets, memoryBytes: gibibytes * gibibyte },
      shares,
    );
    return [cpuMillis, memoryBytes / gibibyte];
  };
  const grown = { cpu: { sockets: 4, cores: 2 }, memory: { guest: '6Gi' } };

  it('follows its size', () => {
    assert.deepEqual(
      [at(grown, 4, 6), at(grown, 1, 3)],
      [
        [800, 4],
        [200, 2],
      ],
    );
  });

  it('follows its requests, which tell how often it may be given out', () => {
    const resources = { requests: { cpu: '4', memory: '6Gi' } };
    assert.deepEqual(at({ ...grown, resources }, 1, 3), [1000, 3]);
  });

  it('stays what it is below its limits, which it may use anyway', () => {
    const resources = { requests: { cpu: '800m', memory: '4Gi' }, limits: { cpu: 8, memory: '6Gi' } };
    assert.deepEqual(
      [at({ ...grown, resources }, 1, 3), at({ ...grown, resources }, 8, 9)],
      [
        [800, 4],
        [1600, 6],
      ],
    );
  });
});

describe('a node', () => {
  const allocatable = allocatableOf({ cpu: '2', memory: '4Gi' });
  const small = { cpuMillis: 500, memoryBytes: gibibyte };

  it('takes what fits to the last byte, and says what is missing of the rest', () => {
    const of = (count: number) => Array.from({ length: count }, () => small);
    assert.deepEqual(findShortages(allocatable, of(3), small), []);
    assert.deepEqual(findShortages(allocatable, of(4), small), [
      { resource: 'cpu', wanted: 500, free: 0, allocatable: 2000 },
      { resource: 'memory', wanted: gibibyte, free: 0, allocatable: 4 * gibibyte },
    ]);
  });

  it('that gave out more than it has shows nothing free, and not less', () => {
    const [shortage] = findShortages(allocatable, [{ cpuMillis: 0, memoryBytes: 5 * gibibyte }], small);
    assert.equal(shortage?.free, 0);
  });

  it('that does not tell a resource is not bounded by it', () => {
    assert.deepEqual(findShortages(allocatableOf(undefined), [], small), []);
    assert.deepEqual(findShortages(allocatableOf({ memory: '1Gi' }), [], { ...small, cpuMillis: 1e9 }), []);
  });

  it('says it as the scheduler does, with the way out', () => {
    const text = shortageText(
      findShortages(allocatable, [small], { cpuMillis: 2000, memoryBytes: 4 * gibibyte }),
    );
    assert.match(
      text,
      /^0\/1 nodes are available: 1 Insufficient cpu \(2 wanted, 1500m of 2 free\), 1 Insufficient memory \(4Gi wanted, 3Gi of 4Gi free\); stop another machine/,
    );
  });
});

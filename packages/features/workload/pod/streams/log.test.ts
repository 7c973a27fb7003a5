import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ContainerStatus, chosenContainer, type Pod, readLogQuery } from '@sheaf/api/workload/index';
import { StatusError } from '@sheaf/base';
import type { LogLine } from '@sheaf/ports';
import { logSourceOf } from './log-source.ts';
import { logText } from './log-text.ts';

function podWith(status: Partial<ContainerStatus>): Pod {
  const main = { name: 'main', image: '', imageID: '', ready: false, restartCount: 0, ...status };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web' },
    spec: { containers: [{ name: 'main' }] },
    status: { containerStatuses: [main] },
  };
}

const ended = (id: string): NonNullable<ContainerStatus['state']> => ({
  terminated: { exitCode: 1, containerID: `sheaf://${id}` },
});

describe('the log of a container', () => {
  it('is that of the run that the status tells', () => {
    const running = { state: { running: {} }, lastState: ended('one'), containerID: 'sheaf://two' };
    assert.equal(logSourceOf(podWith(running), 'main', false), 'two');
    assert.equal(logSourceOf(podWith(running), 'main', true), 'one');
    const crashed = { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended('two') };
    assert.equal(logSourceOf(podWith(crashed), 'main', false), 'two');
    assert.equal(logSourceOf(podWith(crashed), 'main', true), 'two');
    assert.equal(logSourceOf(podWith({ state: ended('three') }), 'main', false), 'three');
  });

  it('is not there for reasons that users know', () => {
    const words = (status: Partial<ContainerStatus>, isPrevious = false, container = 'main'): string => {
      try {
        return logSourceOf(podWith(status), container, isPrevious);
      } catch (error) {
        assert.ok(StatusError.is(error, 'BadRequest'));
        return error.message;
      }
    };
    const waiting = (reason: string): Partial<ContainerStatus> => ({ state: { waiting: { reason } } });
    assert.deepEqual(
      [
        words(waiting('ContainerCreating')),
        words(waiting('ErrImagePull')),
        words(waiting('ImagePullBackOff')),
        words({}),
        words({ state: { terminated: { exitCode: 1 } } }),
        words({ state: { running: {} }, containerID: 'sheaf://one' }, true),
        words({}, false, 'other'),
      ],
      [
        'container "main" in pod "web" is waiting to start: ContainerCreating',
        'container "main" in pod "web" is waiting to start: image can\'t be pulled',
        'container "main" in pod "web" is waiting to start: trying and failing to pull image',
        'container "main" in pod "web" is waiting to start - no logs yet',
        'container "main" in pod "web" is terminated',
        'previous terminated container "main" in pod "web" not found',
        'container "other" in pod "web" is not available',
      ],
    );
  });

  it('is chosen by name, or is the only one', () => {
    const spec = {
      initContainers: [{ name: 'first' }],
      containers: [{ name: 'main' }],
      ephemeralContainers: [{ name: 'debugger' }],
    };
    const pod: Pod = { ...podWith({}), spec };
    assert.deepEqual(
      ['', 'first', 'debugger'].map((name) => chosenContainer(pod, name)),
      ['main', 'first', 'debugger'],
    );
    assert.throws(() => chosenContainer(pod, 'none'), /container none is not valid for pod web/);
    const two: Pod = { ...pod, spec: { ...spec, containers: [{ name: 'main' }, { name: 'side' }] } };
    assert.throws(
      () => chosenContainer(two, ''),
      /must be specified for pod web, choose one of: \[first main side debugger\]/,
    );
  });
});

const time = '2026-01-01T00:00:00.000000001Z';
const lines: readonly LogLine[] = [
  { time, stream: 'stdout', content: Buffer.from('one'), isPart: false },
  { time, stream: 'stderr', content: Buffer.from('begun '), isPart: true },
  { time, stream: 'stderr', content: Buffer.from('ended'), isPart: false },
];

async function textOf(query: string): Promise<readonly string[]> {
  const options = readLogQuery(new URLSearchParams(query), 'web');
  const chunks = await Array.fromAsync(logText(each(), options));
  return chunks.map((chunk) => Buffer.from(chunk).toString());
}

async function* each(): AsyncGenerator<LogLine> {
  for (const line of lines) yield await Promise.resolve(line);
}

describe('the text of a log', () => {
  it('is what was printed', async () => {
    assert.deepEqual(await textOf(''), ['one\nbegun ended\n']);
    assert.deepEqual(await textOf('follow=true'), ['one\n', 'begun ', 'ended\n']);
    assert.deepEqual(await textOf('timestamps=true'), [`${time} one\n${time} begun ended\n`]);
    assert.deepEqual(await textOf('stream=Stderr'), ['begun ended\n']);
    assert.deepEqual(await textOf('limitBytes=6'), ['one\nbe']);
    assert.deepEqual(await textOf('limitBytes=1000'), ['one\nbegun ended\n']);
  });

  it('is asked for in ways that make sense', () => {
    const words = (query: string): string => {
      try {
        readLogQuery(new URLSearchParams(query), 'web');
        return '';
      } catch (error) {
        assert.ok(error instanceof StatusError);
        return `${error.code} ${error.message}`;
      }
    };
    assert.match(words('tailLines=x'), /^400 strconv.ParseInt: parsing "x"/);
    assert.match(
      words('tailLines=-1'),
      /^422 .*tailLines: Invalid value: -1: must be greater than or equal to 0/,
    );
    assert.match(words('limitBytes=0'), /^422 /);
    assert.match(words('sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z'), /^422 .*at most one of/);
    assert.match(words('sinceTime=yesterday'), /^400 sinceTime=yesterday is no time: give one such as/);
    assert.match(words('stream=Both'), /^422 .*supported values: "All", "Stderr", "Stdout"/);
    assert.match(words('stream=Stdout&tailLines=1'), /^422 .*mutually exclusive/);
    assert.equal(words('follow=0&previous=false&tailLines=&insecureSkipTLSVerifyBackend=true'), '');
  });
});

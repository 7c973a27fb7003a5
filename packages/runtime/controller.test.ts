import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { KubeObject } from '@sheaf/api';
import { StatusError, silentLogger } from '@sheaf/base';
import { resources } from '@sheaf/client';
import { allTasks, startTestServer, TestClock } from '@sheaf/testkit';
import { Controller } from './controller.ts';
import { Informer } from './informer.ts';
import { done, type ReconcileResult, TerminalError, waitFor } from './reconcile-result.ts';

async function withController(
  reconcile: (key: string, pass: number) => Promise<ReconcileResult>,
  run: (controller: Controller, clock: TestClock, passes: () => number) => Promise<void>,
): Promise<void> {
  const clock = new TestClock();
  let passes = 0;
  const controller = new Controller({
    name: 'test',
    clock,
    logger: silentLogger,
    reconcile: (key) => reconcile(key, ++passes),
  });
  await controller.start();
  await run(controller, clock, () => passes);
  controller.dispose();
  await controller.stopped();
}

describe('Controller', () => {
  it('tries a failure again with growing delays, and forgets it after a success', () =>
    withController(
      async (_key, pass) => {
        if (pass < 3) throw new Error('not yet');
        return done;
      },
      async (controller, clock, passes) => {
        controller.queue.add('a');
        await allTasks();
        assert.deepEqual([passes(), controller.counts.failing.get('a')], [1, 'not yet']);
        clock.advance(5);
        await allTasks();
        assert.equal(passes(), 2);
        clock.advance(5);
        await allTasks();
        assert.equal(passes(), 2);
        clock.advance(5);
        await allTasks();
        assert.deepEqual([passes(), controller.counts.failures, controller.counts.failing.size], [3, 2, 0]);
      },
    ));

  it('slows down a key that comes back without a rest, and does not starve it', () => {
    let again = (): void => undefined;
    return withController(
      () => {
        again();
        return Promise.resolve(done);
      },
      async ({ queue }, clock, passes) => {
        again = () => queue.add('a');
        again();
        const counts: number[] = [];
        for (let rest = 0; rest < 4; rest++) {
          await allTasks();
          counts.push(passes());
          clock.advance(200);
        }
        assert.deepEqual(counts, [100, 101, 102, 103]);
      },
    );
  });

  it('waits as long as a pass wants, and does not take that for a failure', () =>
    withController(
      (_key, pass) => Promise.resolve(pass === 1 ? waitFor('something', 1000) : done),
      async (controller, clock, passes) => {
        controller.queue.add('a');
        await allTasks();
        clock.advance(999);
        await allTasks();
        assert.equal(passes(), 1);
        clock.advance(1);
        await allTasks();
        assert.deepEqual([passes(), controller.counts.failures], [2, 0]);
      },
    ));

  it('does not try again what is of no use', () =>
    withController(
      () => Promise.reject(new TerminalError('wrong for ever')),
      async (controller, clock, passes) => {
        controller.queue.add('a');
        await allTasks();
        clock.advance(3600_000);
        await allTasks();
        assert.equal(passes(), 1);
      },
    ));

  it('slows down a key that makes itself come again', () =>
    withController(
      (key) => {
        controllerOf().queue.add(key);
        return Promise.resolve(done);
      },
      async (controller, clock, passes) => {
        found = controller;
        controller.queue.add('a');
        await allTasks();
        assert.equal(passes(), 100);
        clock.advance(1000);
        await allTasks();
        assert.ok(passes() <= 105, `${passes()} passes`);
      },
    ));

  it('survives lost races', () =>
    withController(
      (_key, pass) =>
        pass === 1
          ? Promise.reject(new StatusError({ reason: 'Conflict', message: 'changed' }))
          : Promise.resolve(done),
      async (controller, clock, passes) => {
        controller.queue.add('a');
        await allTasks();
        clock.advance(5);
        await allTasks();
        assert.equal(passes(), 2);
      },
    ));
});

describe('Controller at its start', () => {
  it('says what it waits for until all its informers have a complete state', async () => {
    const clock = new TestClock();
    const { client, close } = await startTestServer({ clock });
    const informers = [resources.namespaces, resources.secrets].map(
      (resource) => new Informer<KubeObject>(resource, { client, clock, logger: silentLogger }),
    );
    const controller = new Controller({
      name: 'test',
      clock,
      logger: silentLogger,
      reconcile: () => Promise.resolve(done),
    });
    for (const informer of informers) controller.watch(informer);
    const started = controller.start();
    assert.equal(controller.waitsFor, 'the first list of namespaces, secrets');
    informers[0]?.start();
    await informers[0]?.synced();
    assert.equal(controller.waitsFor, 'the first list of secrets');
    informers[1]?.start();
    await started;
    assert.equal(controller.waitsFor, undefined);
    controller.dispose();
    await Promise.all(informers.map((informer) => informer.stop()));
    await close();
  });

  it('waits for what it was told to know first', async () => {
    const known = Promise.withResolvers<void>();
    const controller = new Controller({
      name: 'test',
      clock: new TestClock(),
      logger: silentLogger,
      reconcile: () => Promise.resolve(done),
      ready: () => known.promise,
    });
    const started = controller.start();
    assert.equal(controller.waitsFor, 'a complete picture');
    known.resolve();
    await started;
    assert.equal(controller.waitsFor, undefined);
    controller.dispose();
  });
});

let found: Controller | undefined;

function controllerOf(): Controller {
  assert.ok(found);
  return found;
}

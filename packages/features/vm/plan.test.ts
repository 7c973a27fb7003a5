import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { requestRestart, requestStart } from './lifecycle-request.ts';
import { planVirtualMachine } from './plan.ts';
import { backOffSeconds } from './start-failure.ts';
import type { RunStrategy, VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';
import { machineOf, VmWorld } from './vm-world.fixture.ts';

const starting: readonly RunStrategy[] = ['Always', 'RerunOnFailure', 'Once'];

describe('a machine from the install config, applied while the cluster is still starting', () => {
  for (const strategy of starting)
    it(`${strategy}: waits in sight for what it needs, and starts when that is there`, () => {
      const world = new VmWorld(machineOf(strategy));
      world.isPrepared = false;
      world.settle();
      assert.deepEqual(
        [world.outcome, world.machine?.status?.printableStatus, world.process],
        ['Pending', 'Starting', undefined],
      );
      const ready = world.machine?.status?.conditions?.find(({ type }) => type === 'Ready');
      assert.equal(ready?.reason, 'VolumeUnbound');
      assert.equal(ready?.message, 'A volume is missing; tried again by itself');
      world.isPrepared = true;
      world.settle();
      assert.deepEqual([world.outcome, world.starts], ['running', 1]);
    });

  for (const strategy of starting)
    it(`${strategy}: no moment decides; a process that ends between any two steps only delays the start`, () => {
      for (let cut = 0; cut < 12; cut++) {
        const world = new VmWorld(machineOf(strategy));
        world.isPrepared = false;
        for (let pass = 0; pass < 12; pass++) {
          world.passMachine({ isCutAfterStatus: pass === cut });
          world.isPrepared = pass > cut;
          world.passInstance({ isCutAfterStatus: pass === cut + 1 });
        }
        world.isPrepared = true;
        world.settle();
        assert.deepEqual([world.outcome, world.starts], ['running', 1], `cut after ${cut}`);
      }
    });

  it('RerunOnFailure: the status was written, but the instance could not be made, ten times over', () => {
    const world = new VmWorld(machineOf('RerunOnFailure'));
    for (let pass = 0; pass < 10; pass++) world.passMachine({ isCutAfterStatus: true });
    assert.equal(world.starts, 0);
    world.settle();
    assert.equal(world.outcome, 'running');
  });

  it('RerunOnFailure after Halted: the start is still wanted if the old instance takes its time to go', () => {
    for (const strategy of ['Always', 'RerunOnFailure'] as const) {
      const world = new VmWorld(machineOf(strategy));
      world.settle();
      world.isGuestListening = false;
      world.change({ runStrategy: 'Halted' });
      world.settle();
      world.change({ runStrategy: 'RerunOnFailure' });
      world.settle();
      assert.equal(world.machine?.status?.printableStatus, 'Stopping');
      world.settleLater(61);
      assert.deepEqual([strategy, world.outcome, world.starts], [strategy, 'running', 2]);
    }
  });

  it('RerunOnFailure: a guest that has shut down unseen stays off', () => {
    const world = new VmWorld(machineOf('RerunOnFailure'));
    while (world.process?.state !== 'running') {
      if (!world.instance) world.passMachine();
      world.passInstance();
      if (!world.machine?.metadata.finalizers) world.passMachine();
    }
    world.endProcess({ cause: 'guest-shutdown' });
    world.passInstance();
    assert.deepEqual([world.outcome, world.machine?.status?.runStrategy], ['Succeeded', undefined]);
    world.settle();
    assert.deepEqual([world.outcome, world.starts], ['off', 1]);
  });

  it('Halted and Manual stay off', () => {
    for (const strategy of ['Halted', 'Manual'] as const) {
      const world = new VmWorld(machineOf(strategy));
      world.settle();
      assert.deepEqual([world.outcome, world.machine?.status?.printableStatus], ['off', 'Stopped']);
    }
  });
});

describe('starts that fail', () => {
  it('are tried again after 10·n² seconds and up to half more, at most 300', () => {
    assert.deepEqual(
      [1, 2, 3, 5, 6, 100].map((count) => backOffSeconds(count, 0)),
      [10, 40, 90, 250, 300, 300],
    );
    assert.deepEqual(
      [1, 2, 5].map((count) => backOffSeconds(count, 0.999)),
      [15, 60, 300],
    );
  });

  it('count until one has run', () => {
    const world = new VmWorld(machineOf('Always'));
    world.startFailure = 'Could not open disk';
    world.settle();
    assert.deepEqual([printableOf(world), failuresOf(world)], ['CrashLoopBackOff', 1]);
    world.settleLater(9);
    assert.equal(world.starts, 1);
    world.settleLater(1);
    assert.deepEqual([world.starts, failuresOf(world)], [2, 2]);
    world.startFailure = undefined;
    world.settleLater(40);
    assert.deepEqual([world.outcome, failuresOf(world)], ['running', undefined]);
  });

  it('a start on request does not wait', () => {
    const world = new VmWorld(machineOf('Manual'));
    world.startFailure = 'Could not open disk';
    world.settle();
    for (let count = 0; count < 2; count++) {
      assert.ok(world.machine);
      world.request(requestStart({ machine: world.machine, instance: world.instance }, {}));
      world.settle();
    }
    assert.deepEqual([world.outcome, world.starts], ['Failed', 2]);
  });
});

describe('a start that is to be paused', () => {
  it('has its processors standing, counts as running, and resumes on request only', () => {
    const world = new VmWorld(machineOf('Halted'));
    world.settle();
    assert.ok(world.machine);
    world.request(requestStart({ machine: world.machine, instance: undefined }, { paused: true }));
    world.settle();
    assert.deepEqual(
      [world.outcome, world.machine.spec.runStrategy, world.machine.status?.printableStatus],
      ['paused', 'Always', 'Paused'],
    );
  });
});

describe('old clients', () => {
  it('say running: true and false', () => {
    const world = new VmWorld(machineOf(true));
    world.settle();
    assert.equal(world.outcome, 'running');
    world.change({ running: false });
    world.settle();
    assert.deepEqual([world.outcome, world.machine?.spec.runStrategy], ['off', undefined]);
    assert.ok(world.machine);
    world.request(requestStart({ machine: world.machine, instance: undefined }, {}));
    world.settle();
    assert.deepEqual([world.outcome, world.machine.spec.running], ['running', true]);
  });
});

describe('an instance that belongs to something else', () => {
  it('is not touched, and said', () => {
    const machine: VirtualMachine = {
      ...machineOf('Always'),
      metadata: {
        ...machineOf('Always').metadata,
        finalizers: ['kubevirt.io/virtualMachineControllerFinalize'],
      },
    };
    const instance: VirtualMachineInstance = {
      metadata: { namespace: 'default', name: 'a', uid: 'other' },
      spec: machine.spec.template.spec,
    };
    const { step, status } = planVirtualMachine({
      machine,
      instance,
      startedSpec: undefined,
      claims: new Map(),
      abilities: { canAddSockets: false, canAddMemory: false },
      volumeFault: undefined,
      nowMs: 0,
      jitter: 0,
    });
    assert.deepEqual(step, { action: 'none' });
    assert.match(
      status.conditions?.find(({ type }) => type === 'Failure')?.message ?? '',
      /belongs to something else; waits for VirtualMachineInstance default\/a; needs someone: delete that instance/,
    );
  });
});

describe('changes while it runs', () => {
  it('sockets come at once, cores with the next start', () => {
    const machine = machineOf('Always');
    const { template } = machine.spec;
    const withCpu = (cpu: object): VirtualMachine['spec'] => ({
      ...machine.spec,
      template: { spec: { ...template.spec, domain: { ...template.spec.domain, cpu } } },
    });
    const world = new VmWorld({ ...machine, spec: withCpu({ sockets: 1, cores: 1, maxSockets: 4 }) });
    world.settle();
    world.change(withCpu({ sockets: 2, cores: 1, maxSockets: 4 }));
    world.settle();
    assert.equal(world.instance?.spec.domain.cpu?.sockets, 2);
    assert.deepEqual(restartOf(world), []);
    assert.equal(world.machine?.status?.observedGeneration, world.machine?.metadata.generation);
    world.change(withCpu({ sockets: 2, cores: 2, maxSockets: 4 }));
    world.settle();
    assert.deepEqual(restartOf(world), [
      'a non-live-updatable field was changed in the template spec: spec.template.spec.domain.cpu.cores; restart the machine to apply it',
    ]);
    assert.equal(world.instance.spec.domain.cpu?.cores, 1);
    world.change(withCpu({ sockets: 1, cores: 1, maxSockets: 4 }));
    world.settle();
    assert.deepEqual(restartOf(world), [], 'back where it was started');
  });

  it('a volume of a request is in the template and the instance, and the request is done', () => {
    const world = new VmWorld(machineOf('Always'));
    world.settle();
    assert.ok(world.machine);
    const request = {
      addVolumeOptions: {
        name: 'data',
        disk: {},
        volumeSource: { persistentVolumeClaim: { claimName: 'data' } },
      },
    };
    world.machine = { ...world.machine, status: { ...world.machine.status, volumeRequests: [request] } };
    world.settle();
    const volume = { name: 'data', persistentVolumeClaim: { claimName: 'data', hotpluggable: true } };
    assert.deepEqual(world.machine.spec.template.spec.volumes, [volume]);
    assert.deepEqual(world.instance?.spec.volumes, [volume]);
    assert.deepEqual(world.instance.spec.domain.devices.disks, [{ name: 'data', disk: { bus: 'scsi' } }]);
    assert.equal(world.machine.status?.volumeRequests, undefined);
    assert.deepEqual(restartOf(world), []);
  });
});

function restartOf({ machine }: VmWorld): readonly (string | undefined)[] {
  const conditions = machine?.status?.conditions ?? [];
  return conditions.filter(({ type }) => type === 'RestartRequired').map(({ message }) => message);
}

function printableOf({ machine }: VmWorld): string | undefined {
  return machine?.status?.printableStatus;
}

function failuresOf({ machine }: VmWorld): number | undefined {
  return machine?.status?.startFailure?.consecutiveFailCount;
}

describe('a request that was made under another strategy', () => {
  it('is carried out under Once as well', () => {
    const world = new VmWorld(machineOf('Manual'));
    world.settle();
    assert.ok(world.machine);
    world.request(requestStart({ machine: world.machine, instance: undefined }, {}));
    world.settle();
    const { machine, instance } = world;
    world.request(requestRestart({ machine, instance }, {}));
    world.change({ runStrategy: 'Once' });
    world.settle();
    assert.deepEqual(
      [world.outcome, world.starts, world.machine?.status?.stateChangeRequests],
      ['running', 2, undefined],
    );
  });

  it('is done by an instance that was over before anybody saw it', () => {
    const world = new VmWorld(machineOf('Manual'));
    world.settle();
    assert.ok(world.machine);
    world.request(requestStart({ machine: world.machine, instance: undefined }, {}));
    world.startFailure = 'the program does not like it';
    world.passMachine();
    for (let pass = 0; pass < 8; pass++) world.passInstance();
    world.settle();
    assert.deepEqual(
      [world.outcome, world.starts, world.machine?.status?.stateChangeRequests],
      ['Failed', 1, undefined],
    );
  });
});

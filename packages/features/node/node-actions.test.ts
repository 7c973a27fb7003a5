import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { NodeObject } from '@sheaf/api/node/index';
import type { VirtualMachineInstance } from '@sheaf/api/virtualization/index';
import { type JsonObject, StatusError } from '@sheaf/base';
import { nodeActions } from './node-actions.ts';

function nodeOf(name: string, spec: NodeObject['spec'] = {}, isReady = true): NodeObject {
  const ready = { type: 'Ready', status: isReady ? 'True' : 'Unknown' } as const;
  return { metadata: { name }, spec, status: { conditions: [ready] } };
}

const open = nodeOf('a');
const cordoned = nodeOf('a', { unschedulable: true });
const other = nodeOf('b');

/** `CODE words`, or what is written or told. */
function run(
  action: string,
  node: NodeObject,
  body: JsonObject = {},
  others: readonly NodeObject[] = [],
): string {
  const act = nodeActions[action];
  assert.ok(act);
  try {
    const outcome = act({ node, nodes: [node, ...others], instances: [] }, body);
    if (outcome.outcome !== 'write') return outcome.outcome;
    const { metadata, spec } = outcome.node;
    return JSON.stringify([metadata.annotations ?? {}, spec]);
  } catch (error) {
    assert.ok(StatusError.is(error));
    return `${error.code} ${error.message}`;
  }
}

describe('actions on nodes', () => {
  it('leave the last node open, and say how it is closed', () => {
    for (const action of ['cordon', 'maintenancePossible'])
      assert.match(
        run(action, open),
        /^400 Node a is the last one on which machines can run; .*(kubectl|sheaf)/,
      );
    assert.match(
      run('enableMaintenanceMode', open, { force: 'true' }),
      /^400 .*sheaf shutdown.*drain-requested=true/,
    );
    for (const closed of [nodeOf('b', { unschedulable: true }), nodeOf('b', {}, false)])
      assert.match(run('cordon', open, {}, [closed]), /^400 /);
  });

  it('close and open a node where there is another one', () => {
    assert.equal(run('cordon', open, {}, [other]), '[{},{"unschedulable":true}]');
    assert.equal(run('maintenancePossible', open, {}, [other]), 'nothing');
    assert.equal(run('uncordon', cordoned), '[{},{}]');
    assert.match(run('cordon', cordoned, {}, [other]), /^422 /);
    assert.match(run('uncordon', open), /^422 /);
  });

  it('begin and end maintenance', () => {
    assert.equal(
      run('enableMaintenanceMode', open, { force: 'false' }, [other]),
      '[{"harvesterhci.io/drain-requested":"true"},{}]',
    );
    assert.equal(
      run('enableMaintenanceMode', open, { force: 'true' }, [other]),
      '[{"harvesterhci.io/drain-requested":"true","harvesterhci.io/drain-forced":"true"},{}]',
    );
    const maintained = {
      ...cordoned,
      metadata: { name: 'a', annotations: { 'harvesterhci.io/maintain-status': 'completed' } },
    };
    assert.match(run('enableMaintenanceMode', maintained, { force: 'true' }, [other]), /^422 .*already/);
    assert.match(run('uncordon', maintained), /^422 .*disableMaintenanceMode/);
    assert.equal(run('disableMaintenanceMode', maintained), '[{},{"taints":[]}]');
    for (const body of [{}, { force: true }])
      assert.match(run('enableMaintenanceMode', open, body, [other]), /^422 InvalidBodyContent/);
  });

  it('that need what is not here say so', () => {
    assert.match(run('powerActionPossible', open), /^424 /);
    assert.match(run('powerAction', open, { operation: 'reboot' }), /^424 .*sheaf shutdown/);
    assert.match(run('powerAction', open, { operation: 'explode' }), /^422 /);
    assert.match(run('enableCPUManager', open), /^400 /);
    assert.match(run('disableCPUManager', open), /^400 /);
  });

  it('list who cannot move', () => {
    const instance = (name: string, labels = {}, status: object = {}): VirtualMachineInstance => ({
      metadata: { namespace: 'ns', name, labels },
      spec: { domain: { devices: {} } },
      status: { phase: 'Running', nodeName: 'a', ...status },
    });
    const instances = [
      instance('two'),
      instance('one'),
      instance('off', { 'harvesterhci.io/maintain-mode-strategy': 'Shutdown' }),
      instance('ended', {}, { phase: 'Succeeded' }),
      instance('elsewhere', {}, { nodeName: 'b' }),
    ];
    const told = nodeActions['listUnhealthyVM']?.({ node: open, nodes: [open], instances }, {});
    assert.ok(told?.outcome === 'tell');
    assert.deepEqual(told.value, [
      {
        message: 'cannot move: machines are not migrated while they run here; stop them, or use force',
        vms: ['ns/one', 'ns/two'],
      },
    ]);
  });
});

import assert from 'node:assert/strict';
import { statfs } from 'node:fs/promises';
import { it } from 'node:test';
import { DailyLife, skip } from './daily-life/scene.ts';

const mebibyte = 2 ** 20;
/** Less than the tenth below which pods are ended, enough for everything else to work. */
const leftMebibytes = 12;

it('a pod that fills the disk is ended with the reason, nothing new begins meanwhile, and its successor runs once there is room', {
  skip,
}, async () => {
  const scene = await DailyLife.begin({ diskBytes: 256 * mebibyte });
  try {
    const node = await scene.kubectl('get nodes -o name');
    await scene.apply('scratch.yaml');
    await scene.rolledOut('deployment/scratch');
    const [pod = ''] = await scene.podNames('scratch');
    const pressure = async (): Promise<string> =>
      await scene.kubectl(
        `get ${node.trim()} -o`,
        'jsonpath={.status.conditions[?(@.type=="DiskPressure")].status} {.spec.taints[*].key}',
      );
    assert.match(await pressure(), /^False /);
    const { bavail, bsize } = await statfs(scene.sheaf.directory);
    const count = Math.floor((bavail * bsize) / mebibyte) - leftMebibytes;
    await scene.kubectl(
      `exec ${pod} -- /bin/busybox dd if=/dev/zero of=/scratch/full bs=${mebibyte} count=${count}`,
    );
    await scene.until('it is ended', async () => {
      const status = await scene.kubectl(`get ${pod} -o`, 'jsonpath={.status.phase} {.status.reason}');
      return status === 'Failed Evicted';
    });
    assert.match(
      await scene.kubectl(`get ${pod} -o`, 'jsonpath={.status.message}'),
      /^The node was low on resource: ephemeral-storage\. Threshold quantity: \d+\w*, available: \d+\w*\. Its emptyDir volumes were using \d+\w*, request is 0\.$/,
    );
    assert.match(await scene.kubectl(`events --for ${pod}`), /Warning +Evicted +Pod\/scratch-/);
    assert.match(
      await scene.kubectl(`describe ${node.trim()}`),
      /Warning +EvictionThresholdMet +.*kubelet +Attempting to reclaim ephemeral-storage/,
    );
    await scene.until('another one runs', async () => {
      const all = await scene.kubectl('get pods -l app=scratch -o', 'jsonpath={.items[*].status.phase}');
      return all.split(' ').includes('Running');
    });
    await scene.until('the pressure is over', async () => /^False $/.test(await pressure()));
    await scene.removeAll('deployments', 'pods');
  } finally {
    await scene.end();
  }
});

import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Client, resources } from '@sheaf/client';
import { podman } from '../../workloads/container-remains.ts';
import { guestTag } from '../../workloads/workload-host.ts';
import { differencesOn, doublesOn } from './host-findings.ts';

const running = ['run', '--detach', '--network=none', '--entrypoint=/bin/sleep'];
const stranger = '0badc0de-0000-4000-8000-000000000000';

/**
 * Puts on the host what must not be there, one thing after the other, and takes it away again. Sheaf does not see it: it knows its
 * containers by their labels.
 * @throws Error when the look passes over it
 */
export async function provePlants(client: Client, directory: string): Promise<void> {
  const { items: pods } = await client.list(resources.pods);
  const of = pods.find(({ metadata }) => metadata.labels?.['app'] === 'web')?.metadata;
  assert.ok(of);
  const container = `container-${of.uid}_web`;
  const look = async (): Promise<readonly string[]> => [
    ...(await doublesOn(directory)),
    ...(await differencesOn(directory, pods)),
  ];
  const plants: readonly [args: readonly string[], finding: string][] = [
    [['--name', `${container}_99`], `${container} runs twice`],
    [
      ['--name', `sandbox-${stranger}_0`, '--label', `sheaf.title=default/${of.name}`],
      `pod default/${of.name} runs twice`,
    ],
    [['--name', `sandbox-${stranger}_0`], `container sandbox-${stranger}_0 belongs to no pod`],
  ];
  for (const [args, finding] of plants) {
    await inEngine(directory, [...running, ...args, guestTag, '1000']);
    const found = await look();
    await inEngine(directory, ['rm', '--force', '--time=0', args[1] ?? '']);
    assert.ok(found.includes(finding), `${finding} is passed over: ${found.join('\n')}`);
  }
  const directoryOfNobody = join(directory, 'pods', stranger);
  await mkdir(directoryOfNobody);
  const found = await differencesOn(directory, pods);
  await rm(directoryOfNobody, { recursive: true, force: true });
  assert.ok(found.includes(`file ${join('pods', stranger)} belongs to no pod`), found.join('\n'));
}

async function inEngine(directory: string, args: readonly string[]): Promise<void> {
  const { code, err } = await podman(directory, args);
  assert.equal(code, 0, err);
}

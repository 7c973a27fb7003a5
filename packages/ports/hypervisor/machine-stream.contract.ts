import assert from 'node:assert/strict';
import type { ByteStream } from './hypervisor.ts';
import { type Scene, text } from './hypervisor-scene.fixture.ts';

export async function sharesSerial(scene: Scene): Promise<void> {
  const first = await scene.run('one');
  const second = await scene.console('one');
  await first.type('from first');
  await second.shows('from first');
  await second.type('from second');
  await first.shows('from second');
  first.close();
  await second.type('alone');
  await second.shows('alone');
  assert.equal(first.printed.includes('alone'), false);
  await second.type('Q');
  await scene.until(() => second.isEnded);
}

export async function keepsSerialLog(scene: Scene): Promise<void> {
  const { signal } = scene;
  const log = async (tailBytes: number): Promise<string> =>
    text.decode(await scene.hypervisor.readSerialLog('one', { tailBytes }, signal));
  await scene.run('one');
  scene.hypervisor.dispose();
  await scene.world.type('one', 'unseen');
  await scene.world.pass(100);
  scene.hypervisor = scene.world.open();
  await scene.until(async () => (await log(1000)) === 'guest ready, boot 1\nunseen');
  assert.equal(await log(6), 'unseen');
  await (await scene.console('one')).type('Q');
  await scene.endOf('one');
  assert.equal(await log(1000), 'guest ready, boot 1\nunseen');
}

export async function sharesScreen(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  await scene.run('one', { hasGraphics: true, hasTablet: true });
  const viewers = [await hypervisor.openScreen('one', signal), await hypervisor.openScreen('one', signal)];
  for (const viewer of viewers) assert.equal(await greeting(viewer), 'RFB 003.008\n');
  for (const viewer of viewers) viewer.dispose();
  const picture = await hypervisor.screenshot('one', signal);
  assert.deepEqual([...picture.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  await scene.run('two');
  await scene.refuses(hypervisor.openScreen('two', signal), 'BadRequest', /screen/);
  await scene.refuses(hypervisor.screenshot('two', signal), 'BadRequest', /screen/);
}

async function greeting(viewer: ByteStream): Promise<string> {
  let words = '';
  for await (const bytes of viewer.readable) {
    words += text.decode(bytes);
    if (words.length >= 12) break;
  }
  return words;
}

export async function missesAgent(scene: Scene): Promise<void> {
  const { hypervisor, signal } = scene;
  await scene.run('one', { hasAgentChannel: true });
  assert.equal((await scene.find('one')).isAgentConnected, false);
  const command = { execute: 'guest-ping' };
  await scene.refuses(hypervisor.askAgent('one', command, signal), 'ServiceUnavailable', /qemu-guest-agent/);
  await scene.run('two');
  await scene.refuses(hypervisor.askAgent('two', command, signal), 'BadRequest', /channel/);
}

/**
 * Records anew what the controllers of a real kube-controller-manager make of the stories.
 *
 *   node tests/conformance/statuses/record.ts [--bin DIRECTORY] [STORY…]
 *
 * It starts a fresh kube-apiserver with etcd and kube-controller-manager (bench/peer) and stops them afterwards.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pass } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, httpTransport, readKubeconfig } from '@sheaf/client';
import { peerOptionsFrom } from '../../../bench/peer/locate.ts';
import { startPeer } from '../../../bench/peer/peer.ts';
import { playStory, type Subject } from './play.ts';
import { writeRecording } from './recording.ts';
import { readStories } from './story.ts';

const controllers = [
  'deployment',
  'replicaset',
  'statefulset',
  'daemonset',
  'job',
  'cronjob',
  'ttl-after-finished',
  'endpointslice',
  'disruption',
  'garbagecollector',
];

const { values, positionals } = parseArgs({ options: { bin: { type: 'string' } }, allowPositionals: true });

async function record(kubeconfig: string): Promise<void> {
  const transport = httpTransport(readKubeconfig(await readFile(kubeconfig, 'utf8')));
  const client = new Client({ transport, userAgent: 'recorder' });
  const subject: Subject = { client, now: () => Date.now(), pass: (milliseconds) => pass(milliseconds) };
  const { gitVersion } = (await client.raw('/version', {})) as { readonly gitVersion?: string };
  const origin = `kube-controller-manager ${gitVersion}, by tests/conformance/statuses/record.ts`;
  try {
    for (const story of await readStories(positionals)) {
      const pictures = await playStory(subject, story);
      await writeRecording(story.name, { origin, pictures });
      console.log(`${story.name}: ${pictures.size} pictures`);
    }
  } finally {
    transport.close();
  }
}

const directory = await mkdtemp(join(tmpdir(), 'status-peer-'));
try {
  const peer = await startPeer({
    ...peerOptionsFrom({ directory, binaries: values.bin, controllers: true }),
    controllers,
  });
  await record(peer.kubeconfig).finally(() => peer.stop());
} finally {
  await rm(directory, { recursive: true, force: true });
}

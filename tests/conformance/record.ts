/**
 * Records the answers of a real kube-apiserver to the themes anew.
 *
 *   node tests/conformance/record.ts [--bin DIRECTORY | --kubeconfig FILE] [THEME…]
 *
 * Without a kubeconfig it starts a fresh kube-apiserver with etcd (bench/peer) and stops it afterwards.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { peerOptionsFrom } from '../../bench/peer/locate.ts';
import { startPeer } from '../../bench/peer/peer.ts';
import { playTheme } from './play.ts';
import { writeRecording } from './recording.ts';
import { serverOf } from './servers.ts';
import { Target } from './target.ts';
import { readThemes } from './theme.ts';

const { values, positionals } = parseArgs({
  options: { bin: { type: 'string' }, kubeconfig: { type: 'string' } },
  allowPositionals: true,
});

async function record(kubeconfig: string): Promise<void> {
  const target = new Target(await serverOf(kubeconfig));
  try {
    for (const theme of await readThemes(positionals)) {
      const answers = await playTheme(target, theme);
      await writeRecording(theme.name, answers);
      console.log(`${theme.name}: ${answers.size} pairs`);
    }
  } finally {
    target.close();
  }
}

async function recordFresh(): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'conformance-peer-'));
  try {
    const peer = await startPeer(peerOptionsFrom({ directory, binaries: values.bin }));
    await record(peer.kubeconfig).finally(() => peer.stop());
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

await (values.kubeconfig === undefined ? recordFresh() : record(values.kubeconfig));

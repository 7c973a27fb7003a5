import { parseArgs } from 'node:util';
import { peerOptionsFrom } from './locate.ts';
import { startPeer } from './peer.ts';

const { values } = parseArgs({
  options: {
    dir: { type: 'string' },
    bin: { type: 'string' },
    controllers: { type: 'boolean', default: false },
  },
});

const { dir, bin, controllers } = values;
if (dir === undefined) {
  console.error('usage: node bench/peer/main.ts --dir DIRECTORY [--bin DIRECTORY] [--controllers]');
  process.exit(2);
}

const peer = await startPeer(peerOptionsFrom({ directory: dir, binaries: bin, controllers }));
console.log(`Peer is ready: ${peer.kubeconfig}`);
console.log(`pids: ${peer.pids().join(' ')}`);

function stop(): void {
  peer.stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
}
process.once('SIGTERM', stop);
process.once('SIGINT', stop);

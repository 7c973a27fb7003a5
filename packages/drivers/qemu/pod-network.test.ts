import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { netdev } from './command-line/devices.ts';
import { passtCommand } from './passt-command.ts';
import { forwardsToMake, podAddresses } from './pod-network.ts';

describe('the pod network', () => {
  it('has the addresses that guests expect', () => {
    assert.deepEqual(podAddresses(), {
      network: '10.0.2.0/24',
      prefix: 24,
      gateway: '10.0.2.1',
      guest: '10.0.2.2',
      resolver: '10.0.2.3',
    });
    assert.deepEqual(podAddresses('192.168.255.250/29'), {
      network: '192.168.255.248/29',
      prefix: 29,
      gateway: '192.168.255.249',
      guest: '192.168.255.250',
      resolver: '192.168.255.251',
    });
    for (const wrong of ['10.0.2.0', '10.0.2.0/30', '10.0.256.0/24', 'fd00::/64', ''])
      assert.throws(() => podAddresses(wrong), /is no range for a pod network/);
  });

  it('forwards what is declared, and what people often ask for', () => {
    const declared = [
      { protocol: 'tcp', guestPort: 22 },
      { protocol: 'udp', guestPort: 80 },
    ] as const;
    const made = forwardsToMake(declared);
    assert.deepEqual(
      made.filter(({ isWanted }) => isWanted),
      declared.map((forward) => ({ ...forward, isWanted: true })),
    );
    const isReady = (protocol: string, port: number): boolean =>
      made.some(
        (forward) => forward.protocol === protocol && forward.guestPort === port && !forward.isWanted,
      );
    assert.deepEqual(
      [isReady('tcp', 22), isReady('tcp', 80), isReady('udp', 80), isReady('udp', 123)],
      [false, true, false, true],
    );
  });

  it('keeps the loopback of the host from the guest, and its ways in on it', () => {
    const forwards = [
      { protocol: 'tcp', guestPort: 22, hostPort: 4000, isWanted: true },
      { protocol: 'tcp', guestPort: 80, hostPort: 4001, isWanted: true },
    ] as const;
    const options = { addresses: podAddresses(), forwards, socket: 's', ready: 'r', runAs: 65_534 };
    const always = [
      ...['--foreground', '--quiet', '--stderr', '--ipv4-only', '--no-map-gw'],
      ...['--address', '10.0.2.2', '--netmask', '24', '--gateway', '10.0.2.1'],
    ];
    assert.deepEqual(passtCommand({ kind: 'beside', program: 'passt' }, options), [
      ...['passt', ...always, '--runas', '65534:65534', '--dns-forward', '10.0.2.3'],
      ...['--one-off', '--tcp-ports', '127.0.0.1/4000:22', '--tcp-ports', '127.0.0.1/4001:80'],
      ...['--udp-ports', 'none', '--pid', 'r', '--socket', 's'],
    ]);
    const apart = passtCommand({ kind: 'apart', pasta: 'pasta', emulator: 'qemu' }, options);
    const [between, inside, emulator] = [apart.indexOf('pasta'), apart.indexOf('--'), apart.indexOf('qemu')];
    assert.deepEqual(apart.slice(between, inside), [
      ...['pasta', ...always, '--config-net', '--interface', 'lo', '--ns-ifname', 'host'],
      ...['--mac-addr', '02:00:00:00:00:01', '--dns-forward', '10.0.2.3'],
      ...['--tcp-ports', '127.0.0.1/4000:4000', '--tcp-ports', '127.0.0.1/4001:4001', '--udp-ports', 'none'],
      ...['--tcp-ns', 'none', '--udp-ns', 'none'],
    ]);
    assert.deepEqual(apart.slice(0, between), [
      ...['unshare', '--user', '--map-user=65534', '--map-group=65534'],
      ...['--propagation', 'slave', '--pid', '--fork', '--kill-child', '--mount-proc'],
    ]);
    assert.deepEqual(
      apart.slice(inside, emulator).filter((word) => !word.includes('\n')),
      ['--', 'unshare', '--mount', '--propagation', 'slave', 'sh', '-c', 'pod-network', 'r', '10.0.2.3'],
    );
    const netdevs = apart.flatMap((word, at) =>
      word === '-netdev' ? [JSON.parse(apart[at + 1] ?? '') as unknown] : [],
    );
    assert.deepEqual(netdevs, [
      {
        ...{ type: 'user', id: 'network', ipv6: false, net: '10.0.2.0/24' },
        ...{ host: '10.0.2.1', dhcpstart: '10.0.2.2', dns: '10.0.2.3' },
        hostfwd: [{ str: 'tcp:127.0.0.1:4000-:22' }, { str: 'tcp:127.0.0.1:4001-:80' }],
      },
      { type: 'stream', id: 'machine', server: true, addr: { type: 'unix', path: 's' } },
      { type: 'hubport', id: 'joined-network', hubid: 0, netdev: 'network' },
      { type: 'hubport', id: 'joined-machine', hubid: 0, netdev: 'machine' },
    ]);
  });

  it('is what a card is plugged into, by its socket', () => {
    const nic = { name: 'pod', model: 'virtio', mac: '52:54:00:00:00:01', link: { kind: 'user' } } as const;
    assert.deepEqual(netdev(nic, { machineId: 'one', podSocket: 'pod-pod/passt.sock' }), {
      type: 'stream',
      id: 'net-pod',
      server: false,
      addr: { type: 'unix', path: 'pod-pod/passt.sock' },
    });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { diskNode, nameIn, tapName, tapPrefix } from './device-names.ts';
import { endOfStatus } from './ending.ts';
import { driveOf, parseForwards, parsePodNics, pathIn } from './machine-facts.ts';

describe('what a machine says about itself', () => {
  it('lists forwarded ports by network card', () => {
    const printed = [
      'Hub -1 (net-pod):\r',
      '  Protocol[State]    FD  Source Address  Port   Dest. Address  Port RecvQ SendQ\r',
      '  TCP[ESTABLISHED]   17       127.0.0.1 35000       10.0.2.15    80     0     0\r',
      '  TCP[HOST_FORWARD]   8       127.0.0.1 39419       10.0.2.15    80     0     0\r',
      '  UDP[HOST_FORWARD]   9       127.0.0.1 41000       10.0.2.15    53     0     0\r',
      'Hub -1 (net-second):\r',
      '  TCP[HOST_FORWARD]   3       127.0.0.1 38907       10.0.2.15    22     0     0\r',
      '',
    ].join('\n');
    assert.deepEqual(parseForwards(printed), [
      { nic: 'second', protocol: 'tcp', guestPort: 22, hostPort: 38907 },
      { nic: 'pod', protocol: 'udp', guestPort: 53, hostPort: 41000 },
      { nic: 'pod', protocol: 'tcp', guestPort: 80, hostPort: 39419 },
    ]);
    assert.deepEqual(parseForwards(''), []);
    assert.deepEqual(parsePodNics(printed), ['pod', 'second']);
  });

  it('finds the drive of a disk by its device, on virtio and USB by the part that has the drive', () => {
    const blocks = [
      { qdev: '/machine/peripheral/disk-root/virtio-backend', inserted: { image: { filename: '/root' } } },
      { qdev: 'disk-data', inserted: { image: { filename: '/data' } } },
      {
        qdev: '/machine/peripheral/disk-usb/disk-usb.0/legacy[0]',
        inserted: { image: { filename: '/usb' } },
      },
      { qdev: 'disk-cd' },
    ];
    assert.deepEqual(
      ['root', 'data', 'usb', 'us', 'cd', 'absent'].map((name) => pathIn(driveOf(blocks, name))),
      ['/root', '/data', '/usb', undefined, undefined, undefined],
    );
  });

  it('finds the file of a disk whose layers lie otherwise than the file itself says', () => {
    const described = {
      driver: 'qcow2',
      backing: { driver: 'qcow2', file: { driver: 'file', filename: '/old' } },
      file: { driver: 'file', filename: '/new' },
    };
    const drive = (filename: string) => pathIn({ inserted: { image: { filename } } });
    assert.deepEqual(
      [drive(`json:${JSON.stringify(described)}`), drive('json:{"driver":"null-co"}'), drive('json:{')],
      ['/new', undefined, undefined],
    );
  });

  it('reads an end from a state of the program', () => {
    const causes = [
      'running',
      'paused',
      'prelaunch',
      'io-error',
      'shutdown',
      'guest-panicked',
      'internal-error',
      'watchdog',
    ];
    assert.deepEqual(
      causes.map((status) => endOfStatus(status, '')?.cause),
      [
        ...[undefined, undefined, undefined, undefined],
        ...['guest-shutdown', 'guest-panicked', 'guest-panicked', 'guest-panicked'],
      ],
    );
  });

  it('names things within the limits of the program and of the kernel', () => {
    const longest = 'd'.repeat(63);
    assert.equal(diskNode(longest, '/a').length, 26);
    assert.notEqual(diskNode(longest, '/a'), diskNode(longest, '/b'));
    assert.ok(tapName('id', longest).length <= 15);
    assert.ok(tapName('id', 'nic').startsWith(tapPrefix('id')));
    assert.deepEqual([nameIn('disk-a', 'disk'), nameIn('disk-a', 'nic')], ['a', undefined]);
  });
});

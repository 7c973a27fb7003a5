import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { testHost } from '@sheaf/ports/host.contract';
import { openHost } from './open-host.ts';
import { ProcHost } from './proc-host.ts';

const files: Readonly<Record<string, string>> = {
  'etc/os-release': 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\n',
  'etc/machine-id': '4c1d\n',
  'proc/sys/kernel/osrelease': '6.1.0-18-amd64\n',
  'proc/sys/kernel/random/boot_id': 'boot-1\n',
  'proc/sys/kernel/pid_max': '4194304\n',
  'proc/sys/kernel/threads-max': '127000\n',
  'proc/loadavg': '0.20 0.18 0.12 1/80 11206\n',
  'proc/uptime': '350735.47 234388.90\n',
  'sys/class/dmi/id/product_uuid': '7b0c\n',
};

testHost('a Linux host', async (use) => {
  const root = await mkdtemp(join(tmpdir(), 'host-'));
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  let hostname = 'one';
  let available: number | undefined = 2 ** 30;
  const host = new ProcHost({
    dataDir: join(root, 'etc'),
    roots: { proc: join(root, 'proc'), etc: join(root, 'etc'), sys: join(root, 'sys') },
    runtime: {
      platform: 'linux',
      hostname: () => hostname,
      machine: () => 'x86_64',
      cpuCount: () => 4,
      totalMemory: () => 2 ** 33,
      memoryLimit: () => 2 ** 32,
      availableMemory: () => available,
      interfaces: () => ({ eth0: [{ address: '192.0.2.7', family: 'IPv4', internal: false }] }),
    },
  });
  try {
    await use({
      host,
      rename: (name) => Promise.resolve(void (hostname = name)),
      reboot: () => writeFile(join(root, 'proc/sys/kernel/random/boot_id'), 'boot-2\n'),
      async hide() {
        available = undefined;
        await rm(root, { recursive: true });
      },
    });
  } finally {
    await rm(root, { recursive: true, force: true });
  }
});

test('the limits of a container count, and the words are those of images', async () => {
  const facts = await openHost(tmpdir()).read(new AbortController().signal);
  assert.ok(facts.memoryBytes > 0 && facts.disk !== undefined && facts.bootId !== undefined);
  assert.ok(['amd64', 'arm64'].includes(facts.architecture));
});

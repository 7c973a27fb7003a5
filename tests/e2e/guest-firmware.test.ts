import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { after, before, describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { DebianGuest, findGuestTools, makeDebianImage } from './debian-guest.ts';
import { type FileServer, serveFile } from './file-server.ts';
import { cloudInitSecret, harvesterMachine } from './harvester-machine.ts';
import { at, eventually, Installation } from './installation.ts';

const tools = await findGuestTools();
const name = 'trusted';
const instance = ['vmi', name] as const;

/** What Windows would read when it is set up. */
const answers = { 'autounattend.xml': '<unattend first="yes"/>', 'unattend.xml': '<unattend later="yes"/>' };

const extras = {
  domain: {
    features: { acpi: { enabled: true }, smm: { enabled: true } },
    firmware: { bootloader: { efi: { secureBoot: true, persistent: true } } },
  },
  devices: { tpm: { persistent: true } },
  ports: [{ port: 22 }, { port: 7007, protocol: 'UDP' }],
  // The kernel of Debian for clouds sees no SATA.
  disks: [{ name: 'answers', cdrom: { bus: 'scsi' } }],
  volumes: [{ name: 'answers', sysprep: { configMap: { name: `${name}-answers` } } }],
};

/** An EFI variable: four bytes of attributes, then what it holds. */
const variable = '/sys/firmware/efi/efivars/SheafTest-7b0cd4f6-6b1c-4f0e-9d4a-2f6f8a3c0001';
const echo = `
import socket
server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
server.bind(("0.0.0.0", 7007))
while True:
    message, sender = server.recvfrom(2000)
    server.sendto(b"heard " + message, sender)
`;

const changeByte = `
with open("/media/EFI/BOOT/BOOTX64.EFI", "r+b") as loader:
    loader.seek(300000)
    byte = loader.read(1)[0]
    loader.seek(300000)
    loader.write(bytes([byte ^ 255]))
`;

describe('the firmware and the ports of a Debian guest', { skip: tools.missing ?? false }, () => {
  let sheaf: Installation;
  let guest: DebianGuest;
  let images: FileServer;

  before(async () => {
    sheaf = await Installation.make(tools.kubectl);
    images = await serveFile(tools.disk);
    guest = await DebianGuest.make(name, sheaf, tools);
    await sheaf.start();
  });
  after(async () => {
    await images.close();
    await sheaf.remove();
  });

  it('starts signed loaders and a signed kernel by Secure Boot', async () => {
    const storageClass = await makeDebianImage(sheaf, images.url);
    await sheaf.apply(
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: `${name}-answers`, namespace: 'default' },
        data: answers,
      },
      harvesterMachine({ name, storageClass, imageId: 'default/debian' }, extras),
      cloudInitSecret(guest),
    );
    await guest.shows('Running');
    assert.equal(await guest.says('mokutil --sb-state'), 'SecureBoot enabled');
    assert.match(await guest.says('cat /sys/kernel/security/lockdown'), /\[integrity\]/);
  });

  it('gives the guest a TPM that has measured the start', async () => {
    const said = await guest.says(
      'cd /sys/class/tpm/tpm0 && cat tpm_version_major pcr-sha256/7 && ls /dev/tpm0',
    );
    const [version, register = '', device] = said.split('\n');
    assert.deepEqual([version, device], ['2', '/dev/tpm0']);
    assert.match(register, /^(?!0+$)[0-9A-F]{64}$/);
    const define = 'sudo tpm2_nvdefine 0x1500016 -s 8 -a "ownerread|ownerwrite"';
    await guest.says(`${define} && echo -n a-secret | sudo tpm2_nvwrite 0x1500016 -C o -i -`);
    await guest.says(`printf '\\7\\0\\0\\0kept' | sudo tee ${variable} >/dev/null`);
  });

  it('shows the answers for Windows on a CD with the label that it looks for', async () => {
    assert.equal(await guest.says('lsblk -dnro TYPE,LABEL,FSTYPE /dev/sr0'), 'rom unattendCD iso9660');
    const said = await guest.says('sudo mount -r /dev/sr0 /mnt && cd /mnt && grep -H "" *');
    assert.equal(
      said,
      Object.entries(answers)
        .map(([file, text]) => `${file}:${text}`)
        .join('\n'),
    );
  });

  it('lets one hear a service that speaks first', async () => {
    const child = spawn(tools.virtctl, ['port-forward', '--stdio', `vm/${name}`, '22'], {
      env: { ...process.env, ...guest.environment },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const [words] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGTERM');
    assert.match(String(words), /^SSH-2\.0-OpenSSH/);
  });

  it('carries messages of UDP to a service of the guest, and its answers back', async () => {
    await guest.says(`sudo systemd-run -q --unit=echo python3 -c '${echo}'`);
    const client = createSocket('udp4').bind(0, '127.0.0.1');
    await once(client, 'listening');
    const port = client.address().port;
    await new Promise<void>((resolve) => void client.close(resolve));
    const child = spawn(tools.virtctl, ['port-forward', `vm/${name}`, `udp/${port}:7007`], {
      env: { ...process.env, ...guest.environment },
      stdio: 'ignore',
    });
    const sender = createSocket('udp4');
    const heard = new Set<string>();
    sender.on('message', (message) => heard.add(String(message)));
    // What is sent before virtctl and the service listen is lost.
    while (heard.size < 2) {
      for (const words of ['one', 'two']) sender.send(words, port, '127.0.0.1');
      await pause(100);
    }
    sender.close();
    child.kill('SIGTERM');
    assert.deepEqual([...heard].toSorted(), ['heard one', 'heard two']);
  });

  /** Resolves when another instance of the machine runs. */
  async function restart(): Promise<void> {
    const uid = at(await sheaf.find(...instance), 'metadata', 'uid');
    const { code, out } = await guest.control('restart', name);
    assert.equal(code, 0, out);
    await sheaf.until(
      instance,
      (object) => at(object, 'metadata', 'uid') !== uid && at(object, 'status', 'phase') === 'Running',
      { goal: 'another instance runs' },
    );
  }

  it('keeps the variables and the TPM when the machine is started again', async () => {
    await restart();
    assert.equal(await guest.says('mokutil --sb-state'), 'SecureBoot enabled');
    assert.equal(await guest.says('sudo tpm2_nvread 0x1500016 -C o -s 8'), 'a-secret');
    assert.equal(await guest.says(`tail -c 4 ${variable}`), 'kept');
  });

  it('refuses a loader in which one byte is another', async () => {
    await guest.says(
      `sudo mount LABEL=SHEAF-BOOT /media && sudo python3 -c '${changeByte}' && sudo umount /media`,
    );
    await restart();
    const place = `namespaces/default/virtualmachineinstances/${name}/console/log`;
    let printed = '';
    const isRefused = async (): Promise<boolean> => {
      printed = await sheaf.kubectl(['get', '--raw', `/apis/subresources.kubevirt.io/v1/${place}`]);
      return /failed to load .*: Access Denied/.test(printed);
    };
    await eventually(isRefused, { goal: 'the firmware refuses the loader', limitMs: 550_000 }, () => printed);
    assert.doesNotMatch(printed, /Linux version/);
  });
});

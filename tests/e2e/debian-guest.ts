import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findDebianImage } from '../guests/debian-image.ts';
import { runProgram } from '../program.ts';
import { findKubectl, findVirtctl, type Tool } from '../tools.ts';
import { at, eventually, type Installation } from './installation.ts';

/** What a guest that one gets into takes. */
export interface GuestTools {
  readonly kubectl: string;
  readonly virtctl: string;
  /** The disk that it boots from. */
  readonly disk: string;
  /** Why it cannot be had here. */
  readonly missing: string | undefined;
}

/** A guest without KVM takes half a minute to boot on a host with nothing else to do. */
const guestLimitMs = 550_000;

export async function findGuestTools(): Promise<GuestTools> {
  const { code } = await runProgram('sh', ['-c', 'command -v ssh && command -v ssh-keygen']);
  const ssh = code === 0 ? { path: 'ssh' } : { missing: 'there is no ssh and ssh-keygen' };
  const [kubectl, virtctl] = [await findKubectl(), await findVirtctl()];
  const disk = await findDebianImage();
  const [missing] = [kubectl, virtctl, ssh, disk].flatMap((tool) =>
    'missing' in tool ? [tool.missing] : [],
  );
  const pathOf = (tool: Tool): string => ('path' in tool ? tool.path : '');
  return { kubectl: pathOf(kubectl), virtctl: pathOf(virtctl), disk: pathOf(disk), missing };
}

/** A machine with a Debian guest whose user `debian` lets a key in. */
export class DebianGuest {
  readonly name: string;
  readonly publicKey: string;
  readonly #sheaf: Installation;
  readonly #virtctl: string;

  private constructor(name: string, parts: { sheaf: Installation; virtctl: string; publicKey: string }) {
    this.name = name;
    this.publicKey = parts.publicKey;
    this.#sheaf = parts.sheaf;
    this.#virtctl = parts.virtctl;
  }

  /** Makes the key; the machine is the caller's to make. */
  static async make(name: string, sheaf: Installation, { virtctl }: GuestTools): Promise<DebianGuest> {
    const path = keyPath(sheaf);
    const { code, err } = await runProgram('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', path]);
    assert.equal(code, 0, err);
    const publicKey = (await readFile(`${path}.pub`, 'utf8')).trim();
    return new DebianGuest(name, { sheaf, virtctl, publicKey });
  }

  /** The environment of virtctl. */
  get environment(): Readonly<Record<string, string>> {
    return { KUBECONFIG: this.#sheaf.kubeconfig, HOME: this.#sheaf.directory };
  }

  async control(...args: readonly string[]): Promise<{ readonly code: number; readonly out: string }> {
    const { code, out, err } = await runProgram(this.#virtctl, args, { env: this.environment });
    return { code, out: out + err };
  }

  run(command: string): Promise<{ readonly code: number; readonly out: string }> {
    const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
    const local = options.flatMap((option) => ['--local-ssh-opts', `-o ${option}`]);
    const key = ['--identity-file', keyPath(this.#sheaf)];
    return this.control('ssh', `debian@vm/${this.name}`, ...key, ...local, '--command', command);
  }

  /** What it says, once one can get into it. */
  async says(command: string): Promise<string> {
    let said = '';
    const isAnswered = async (): Promise<boolean> => {
      const { code, out } = await this.run(command);
      said = out;
      return code === 0;
    };
    await eventually(isAnswered, { goal: 'the guest lets us in', limitMs: guestLimitMs }, () => said);
    return said.trim();
  }

  async shows(status: string): Promise<void> {
    await this.#sheaf.until(
      ['vm', this.name],
      (object) => at(object, 'status', 'printableStatus') === status,
      { goal: `the machine is ${status}` },
    );
  }
}

function keyPath({ directory }: Installation): string {
  return join(directory, 'guest-key');
}

/** Makes the image `default/debian` from a disk by its address. Resolves to its storage class. */
export async function makeDebianImage(sheaf: Installation, url: string): Promise<string> {
  await sheaf.apply({
    apiVersion: 'harvesterhci.io/v1beta1',
    kind: 'VirtualMachineImage',
    metadata: { name: 'debian', namespace: 'default' },
    spec: { displayName: 'debian-12', sourceType: 'download', url },
  });
  const image = await sheaf.until(
    ['virtualmachineimage', 'debian'],
    (object) => typeof at(object, 'status', 'storageClassName') === 'string',
    { goal: 'the image has its storage class' },
  );
  const storageClass = String(at(image, 'status', 'storageClassName'));
  assert.equal(storageClass, `lh-${String(at(image, 'metadata', 'uid'))}`);
  return storageClass;
}

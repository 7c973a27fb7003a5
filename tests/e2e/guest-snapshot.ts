import assert from 'node:assert/strict';
import type { JsonObject } from '@sheaf/base';
import { DiskInspection } from './disk-inspection.ts';
import { at, eventually, type Installation } from './installation.ts';

const snapshotGroup = 'snapshot.storage.k8s.io';

export interface GuestSnapshot {
  readonly sheaf: Installation;
  readonly machine: string;
  /** The only disk. */
  readonly claim: string;
  /** What the guest prints. */
  readonly guestSays: (command: string) => Promise<string>;
}

/** Written before the snapshot, and never synchronized by the guest: only a file system that was frozen has it. */
const witness = '/var/lib/witness';

/** What a guest says that has too much to do to freeze in the time that it is given. */
const tooSlow = /did not answer within|did not freeze in time|thawed after/;

/** Resolves to what the guest has written, after the snapshot `backup` has been taken under its hands. */
export async function takeSnapshot(subject: GuestSnapshot, backup: string): Promise<string> {
  const { guestSays } = subject;
  const noise = 'systemd-run -q --unit=noise sh -c "while :; do date >>/var/lib/noise; sleep 0.05; done"';
  const write = `head -c 3000000 /dev/urandom | base64 -w0 >${witness}`;
  await guestSays(`sudo sh -c '${noise}; ${write}'`);
  const sum = await guestSays(`sudo sha256sum ${witness}`);
  await eventually(() => isTakenFrozen(subject, backup), {
    goal: 'the guest is quick enough to freeze',
    limitMs: 300_000,
  });
  // It goes on, and what it writes now is not in the snapshot.
  await guestSays(`sudo sh -c 'systemctl stop noise; echo later >${witness}; sync'`);
  return sum.split(' ')[0] ?? '';
}

/** False: it was taken, but a host without time to spare has kept the guest from freezing; then it is gone again. */
async function isTakenFrozen({ sheaf, machine, claim }: GuestSnapshot, backup: string): Promise<boolean> {
  await sheaf.apply({
    apiVersion: 'harvesterhci.io/v1beta1',
    kind: 'VirtualMachineBackup',
    metadata: { name: backup, namespace: 'default' },
    spec: { type: 'snapshot', source: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: machine } },
  });
  await sheaf.until(['vmbackup', backup], (object) => at(object, 'status', 'readyToUse') === true, {
    goal: 'the snapshot is ready',
    limitMs: 180_000,
  });
  const name = `${backup}-volume-${claim}`;
  const snapshot = await sheaf.until(
    ['volumesnapshot', name],
    (object) => consistencyOf(object) !== undefined,
    { goal: 'the snapshot says what it is worth' },
  );
  if (consistencyOf(snapshot) === 'filesystem') return true;
  const words = at(snapshot, 'metadata', 'annotations', 'sheaf.dev/consistency-reason');
  assert.match(String(words), tooSlow);
  await sheaf.kubectl(['delete', 'vmbackup', backup, '--timeout=60s']);
  await sheaf.until(['volumesnapshot', name], (object) => object === undefined, {
    goal: 'the snapshot is gone',
  });
  return false;
}

function consistencyOf(snapshot: JsonObject | undefined): unknown {
  return at(snapshot, 'metadata', 'annotations', 'sheaf.dev/consistency');
}

/** A volume from the snapshot has what the guest had written, in a file system that nobody has to repair. */
export async function checkSnapshot(
  { sheaf, claim }: GuestSnapshot,
  { backup, sum }: { readonly backup: string; readonly sum: string },
  digest: (text: string) => string,
): Promise<void> {
  const source = await sheaf.find('pvc', claim);
  const name = 'copy-of-snapshot';
  await sheaf.apply({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default' },
    spec: {
      accessModes: ['ReadWriteMany'],
      volumeMode: 'Block',
      storageClassName: at(source, 'spec', 'storageClassName'),
      resources: { requests: { storage: at(source, 'status', 'capacity', 'storage') } },
      dataSource: { apiGroup: snapshotGroup, kind: 'VolumeSnapshot', name: `${backup}-volume-${claim}` },
    },
  });
  await sheaf.until(['pvc', name], (object) => at(object, 'status', 'phase') === 'Bound', {
    goal: 'there is a volume from the snapshot',
  });
  const inspection = await DiskInspection.ofClaim(sheaf, name);
  try {
    const { code, out, err } = await inspection.check();
    assert.equal(code, 0, out + err);
    assert.equal(await inspection.needsRecovery(), false, 'the file system was frozen');
    assert.equal(digest(await inspection.read(witness)), sum);
  } finally {
    await inspection.remove();
    await sheaf.kubectl(['delete', 'pvc', name, '--timeout=60s']);
  }
}

/** The machine, which is off, becomes what it was at the snapshot; it stays off. Resolves to the claim of its disk. */
export async function restoreSnapshot({ sheaf, machine }: GuestSnapshot, backup: string): Promise<string> {
  await sheaf.apply({
    apiVersion: 'harvesterhci.io/v1beta1',
    kind: 'VirtualMachineRestore',
    metadata: { name: `back-to-${backup}`, namespace: 'default' },
    spec: {
      target: { apiGroup: 'kubevirt.io', kind: 'VirtualMachine', name: machine },
      virtualMachineBackupName: backup,
      virtualMachineBackupNamespace: 'default',
      newVM: false,
      deletionPolicy: 'delete',
      haltAfterRestore: true,
    },
  });
  const restore = await sheaf.until(
    ['vmrestore', `back-to-${backup}`],
    (object) => at(object, 'status', 'complete') === true,
    { goal: 'the machine is what it was' },
  );
  return `restore-${backup}-${String(at(restore, 'metadata', 'uid'))}-disk-0`;
}

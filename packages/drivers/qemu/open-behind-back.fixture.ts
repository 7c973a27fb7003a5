import { join } from 'node:path';
import type { DiskFile } from '@sheaf/ports';
import { systemClock } from '../system/system-clock.ts';
import { blockNode } from './command-line/devices.ts';
import { fileNames } from './device-names.ts';
import { QmpClient } from './qmp-client.ts';

/**
 * Leaves a machine as one who dies in the middle of a switch: the new file is open, and no disk uses it. `directory` is that of the
 * driver; its connection is not needed for it.
 */
export async function openNewFile(
  directory: string,
  { id, disk, file }: { readonly id: string; readonly disk: string; readonly file: DiskFile },
): Promise<void> {
  const client = await QmpClient.connect({
    path: join(directory, 'machines', id, fileNames.debugControl),
    clock: systemClock,
    limitMs: 10_000,
    onEvent: () => undefined,
    onClose: () => undefined,
  });
  try {
    const node = blockNode({ name: disk, device: 'disk', bus: 'virtio' }, file);
    await client.execute('blockdev-add', { ...node, backing: null });
  } finally {
    client.dispose();
  }
}

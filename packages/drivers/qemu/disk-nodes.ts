import type { JsonObject } from '@sheaf/base';
import type { MachineLink } from './machine-link.ts';
import { objectsIn, QmpError, textAt } from './qmp-client.ts';

const ourNode = /^d[0-9a-f]{8}-[0-9a-f]{16}$/;

/** The block nodes that were made for disks, by name. */
export async function ourNodes(link: MachineLink): Promise<string[]> {
  const nodes = objectsIn(await link.execute('query-named-block-nodes', { flat: true }));
  return nodes.map((node) => textAt(node, 'node-name') ?? '').filter((name) => ourNode.test(name));
}

/** Opens a file as a block node, unless it is open. */
export async function ensureNode(link: MachineLink, node: JsonObject): Promise<void> {
  if (!(await ourNodes(link)).includes(textAt(node, 'node-name') ?? ''))
    await link.execute('blockdev-add', node);
}

/** Closes block nodes, those that stand on others first; what a device or another node uses stays. */
export async function removeNodes(link: MachineLink, names: readonly string[]): Promise<void> {
  let left = names;
  for (;;) {
    const kept: string[] = [];
    for (const name of left) if (!(await isRemoved(link, name))) kept.push(name);
    if (kept.length === left.length) return;
    left = kept;
  }
}

/** Closes all block nodes of one disk that nothing uses. */
export async function removeDiskNodes(link: MachineLink, prefix: string): Promise<void> {
  const nodes = await ourNodes(link);
  await removeNodes(
    link,
    nodes.filter((node) => node.startsWith(prefix)),
  );
}

async function isRemoved(link: MachineLink, name: string): Promise<boolean> {
  try {
    await link.execute('blockdev-del', { 'node-name': name });
    return true;
  } catch (error) {
    if (error instanceof QmpError) return false;
    throw error;
  }
}

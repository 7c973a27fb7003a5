import { DirectoryCertificateFiles } from '@sheaf/drivers/system';

const file = 'node-name';

/**
 * The name of this node: that of the host when the data directory was first used. Instances say on which node they are, so it
 * stays the same when the host is called otherwise later.
 */
export async function nodeNameOf(dataDir: string, hostName: string): Promise<string> {
  const files = new DirectoryCertificateFiles(dataDir);
  const kept = (await files.read(file))?.trim() ?? '';
  if (kept !== '') return kept;
  const name = asNodeName(hostName);
  await files.write(file, `${name}\n`);
  return name;
}

/** Names of nodes are those of DNS. */
function asNodeName(hostName: string): string {
  const name = hostName
    .toLowerCase()
    .replace(/[^a-z0-9.-]/g, '-')
    .slice(0, 63)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return name === '' ? 'node' : name;
}

import { createHash } from 'node:crypto';
import { access, mkdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../program.ts';
import type { Tool } from '../tools.ts';

const recipe = fileURLToPath(new URL('build-debian.sh', import.meta.url));
const cache = fileURLToPath(new URL('../../.cache/guests/', import.meta.url));
const buildMilliseconds = 15 * 60_000;
const programs = ['mmdebstrap', 'mcopy', 'syslinux', 'mkfs.vfat', 'mke2fs', 'sfdisk', 'qemu-img'];

/**
 * A small Debian 12 disk (qcow2) with cloud-init, the guest agent and sshd, whose user is `debian`. It is built from Debian's
 * packages once for each state of its recipe.
 *
 * @public
 */
export async function findDebianImage(): Promise<Tool> {
  const digest = createHash('sha256')
    .update(await readFile(recipe))
    .digest('hex')
    .slice(0, 16);
  const path = `${cache}debian-12-${digest}.qcow2`;
  if (await exists(path)) return { path };
  const missing = await missingPrograms();
  if (missing.length > 0) return { missing: `no ${missing.join(', ')} to build the disk of a guest` };
  if (process.getuid?.() !== 0) return { missing: 'building the disk of a guest needs root' };
  await mkdir(cache, { recursive: true });
  const { code, err } = await runProgram('sh', [recipe, path], { timeout: buildMilliseconds });
  return code === 0 ? { path } : { missing: `the disk of a guest was not built: ${err.trim().slice(-400)}` };
}

async function missingPrograms(): Promise<readonly string[]> {
  const found = await Promise.all(
    programs.map(async (program) => {
      const { code } = await runProgram('sh', ['-c', `PATH=$PATH:/usr/sbin:/sbin command -v ${program}`]);
      return code === 0;
    }),
  );
  return programs.filter((_, index) => found[index] !== true);
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from '../program.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const parts = ['apps', 'packages', 'scripts', 'package.json'];
/** Commits that are tried. */
const tries = 10;

/** Sources that can be started: their `scripts/sheaf.sh`. */
export interface Build {
  readonly launcher: string;
}

/** The sources as they are here, in another place and under another version. */
export async function copyBuild(directory: string, version: string): Promise<Build> {
  const isOwn = (path: string): boolean => !path.endsWith('/node_modules');
  for (const part of parts)
    await cp(join(root, part), join(directory, part), { recursive: true, filter: isOwn });
  const path = join(directory, 'apps', 'sheaf', 'package.json');
  const manifest = JSON.parse(await readFile(path, 'utf8')) as object;
  await writeFile(path, JSON.stringify({ ...manifest, version }));
  return finish(directory);
}

/**
 * The sources of the newest commit that is at least so many ago and holds by itself: some are halves of a change. Otherwise why they
 * cannot be had. `starts`: tries it on a directory of its own.
 */
export async function earlierBuild(
  directory: string,
  { ago, starts }: { readonly ago: number; readonly starts: (build: Build) => Promise<boolean> },
): Promise<Build | { readonly missing: string }> {
  for (let step = ago; step < ago + tries; step++) {
    const place = join(directory, String(step));
    const build = await buildOf(place, `HEAD~${step}`);
    if (!build) return { missing: `this copy of the repository does not reach ${step} commits back` };
    if (await starts(build)) return build;
  }
  return { missing: `none of ${tries} commits, ${ago} ago, starts with the packages that are installed` };
}

async function buildOf(directory: string, revision: string): Promise<Build | undefined> {
  const inRoot = ['-c', `safe.directory=${root.replace(/\/$/, '')}`, '-C', root];
  const known = await runProgram('git', [...inRoot, 'rev-parse', '--verify', '--quiet', revision]).catch(
    () => undefined,
  );
  if (known?.code !== 0) return undefined;
  await mkdir(directory, { recursive: true });
  const archive = spawn('git', [...inRoot, 'archive', known.out.trim(), ...parts], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const tar = spawn('tar', ['-x', '-C', directory], { stdio: [archive.stdout, 'ignore', 'inherit'] });
  const [code] = (await once(tar, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`the sources of ${revision} could not be unpacked`);
  return finish(directory);
}

/** With the packages that are installed here, but its own workspaces. */
async function finish(directory: string): Promise<Build> {
  const installed = join(root, 'node_modules');
  const own = join(directory, 'node_modules');
  await mkdir(join(own, '@sheaf'), { recursive: true });
  for (const name of await readdir(installed))
    if (name !== '@sheaf') await symlink(join(installed, name), join(own, name));
  for (const name of await readdir(join(directory, 'packages')))
    await symlink(join(directory, 'packages', name), join(own, '@sheaf', name));
  return { launcher: join(directory, 'scripts', 'sheaf.sh') };
}

export interface FileNode {
  readonly name: string;
  /** Upper case, at most eight characters and three more; unique in its directory. */
  readonly shortName: string;
  readonly bytes: Uint8Array;
}

export interface DirectoryNode {
  readonly name: string;
  readonly shortName: string;
  /** The root is its own parent. */
  readonly parent: DirectoryNode;
  readonly directories: readonly DirectoryNode[];
  readonly files: readonly FileNode[];
}

interface GrowingDirectory extends DirectoryNode {
  parent: GrowingDirectory;
  directories: GrowingDirectory[];
  files: FileNode[];
}

/** Sorts files by path into directories. */
export function treeOf(files: ReadonlyMap<string, Uint8Array>): DirectoryNode {
  const root = { name: '', shortName: '', directories: [], files: [] } as unknown as GrowingDirectory;
  root.parent = root;
  for (const path of [...files.keys()].sort()) {
    const parts = path.split('/');
    const name = parts.pop() ?? '';
    const directory = parts.reduce(enter, root);
    const shortName = freeShortName(name, directory);
    directory.files.push({ name, shortName, bytes: files.get(path) ?? new Uint8Array() });
  }
  return root;
}

/** The directories as path tables list them: level by level, each level in the order of its parents. */
export function directoriesOf(root: DirectoryNode): readonly DirectoryNode[] {
  const all: DirectoryNode[] = [root];
  for (const directory of all) all.push(...directory.directories);
  return all;
}

function enter(parent: GrowingDirectory, name: string): GrowingDirectory {
  const known = parent.directories.find((each) => each.name === name);
  if (known) return known;
  const shortName = freeShortName(name, parent).replace('.', '_').slice(0, 8);
  const directory: GrowingDirectory = { name, shortName, parent, directories: [], files: [] };
  parent.directories.push(directory);
  return directory;
}

function freeShortName(name: string, { files, directories }: DirectoryNode): string {
  const taken = new Set([...files, ...directories].map(({ shortName }) => shortName));
  const { base, extension } = shortPartsOf(name);
  const first = `${base}${extension}`;
  if (!taken.has(first)) return first;
  for (let count = 1; ; count++) {
    const tail = `_${count}`;
    const next = `${base.slice(0, 8 - tail.length)}${tail}${extension}`;
    if (!taken.has(next)) return next;
  }
}

function shortPartsOf(name: string): { readonly base: string; readonly extension: string } {
  const clean = name.toUpperCase().replace(/[^A-Z0-9_.]/g, '_');
  const dot = clean.lastIndexOf('.');
  const base = (dot > 0 ? clean.slice(0, dot) : clean).replaceAll('.', '_').slice(0, 8);
  const extension = dot > 0 ? clean.slice(dot + 1, dot + 4) : '';
  return { base: base === '' ? '_' : base, extension: `.${extension}` };
}

import { type DirectoryNode, directoriesOf, type FileNode, treeOf } from './iso-tree.ts';

/** Contents by path: `name` or `directory/name`. */
export type ImageFiles = ReadonlyMap<string, Uint8Array>;

const sectorBytes = 2048;
const firstSector = 16;
/** The same files give the same bytes, whenever they are made: 1 January 2000. */
const recordDate = [100, 1, 1, 0, 0, 0, 0];

/** How one of the two directory trees writes names and marks itself. */
interface Dialect {
  readonly descriptorType: 1 | 2;
  readonly escape: string;
  encodeName(node: { readonly shortName: string; readonly name: string }, isDirectory: boolean): Buffer;
  encodeLabel(label: string): Buffer;
}

const plain: Dialect = {
  descriptorType: 1,
  escape: '',
  encodeName: ({ shortName }, isDirectory) =>
    Buffer.from(isDirectory ? shortName : `${shortName};1`, 'latin1'),
  encodeLabel: (label) => padded(Buffer.from(label, 'latin1'), 32, ' '),
};

/** With the names as they are. Systems read this tree if there is one. */
const joliet: Dialect = {
  descriptorType: 2,
  escape: '%/E',
  encodeName: ({ name }) => wide(name),
  encodeLabel: (label) => padded(wide(label), 32, '\0'),
};

interface TreeLayout {
  readonly dialect: Dialect;
  readonly directories: readonly DirectoryNode[];
  readonly pathTable: number;
  readonly pathTableBytes: number;
  /** First sector of each directory. */
  readonly extents: ReadonlyMap<DirectoryNode, number>;
}

/** A CD-ROM image (ISO 9660 with Joliet) with these files. The label has at most 16 characters. */
export function isoImage(label: string, files: ImageFiles): Uint8Array {
  const root = treeOf(files);
  const directories = directoriesOf(root);
  let next = firstSector + 3;
  const layouts = [plain, joliet].map((dialect) => {
    const layout = layoutOf(dialect, directories, next);
    next = layout.end;
    return layout.tree;
  });
  const contents = new Map<FileNode, number>();
  for (const file of directories.flatMap((directory) => directory.files)) {
    contents.set(file, next);
    next += sectorsOf(file.bytes.length);
  }
  const image = Buffer.alloc(next * sectorBytes);
  for (const [index, layout] of layouts.entries()) {
    writeDescriptor(image, firstSector + index, { layout, label, sectors: next });
    writePathTables(image, layout);
    writeDirectories(image, layout, contents);
  }
  image.write('CD001', (firstSector + 2) * sectorBytes + 1, 'latin1');
  image.set([255], (firstSector + 2) * sectorBytes);
  image.set([1], (firstSector + 2) * sectorBytes + 6);
  for (const [file, sector] of contents) image.set(file.bytes, sector * sectorBytes);
  return image;
}

/** The names that would not be found on an image again. */
export function unwritableNames(names: Iterable<string>): readonly string[] {
  return [...names].filter((path) =>
    path.split('/').some((name) => name === '' || name.length > 100 || /[*:;?\\\x00-\x1f]/.test(name)),
  );
}

function layoutOf(
  dialect: Dialect,
  directories: readonly DirectoryNode[],
  start: number,
): { readonly tree: TreeLayout; readonly end: number } {
  const pathTableBytes = directories.reduce((sum, each) => sum + pathEntryBytes(each, dialect), 0);
  const tableSectors = sectorsOf(pathTableBytes);
  let next = start + 2 * tableSectors;
  const extents = new Map<DirectoryNode, number>();
  for (const directory of directories) {
    extents.set(directory, next);
    next += sectorsOf(recordsOf(directory, dialect).length);
  }
  const tree = { dialect, directories, pathTable: start, pathTableBytes, extents };
  return { tree, end: next };
}

function identifierOf(directory: DirectoryNode, dialect: Dialect): Buffer {
  return directory.parent === directory ? Buffer.of(0) : dialect.encodeName(directory, true);
}

function pathEntryBytes(directory: DirectoryNode, dialect: Dialect): number {
  return 8 + even(identifierOf(directory, dialect).length);
}

function writePathTables(image: Buffer, layout: TreeLayout): void {
  const { dialect, directories, pathTable, pathTableBytes, extents } = layout;
  const numbers = new Map(directories.map((directory, index) => [directory, index + 1]));
  const tableSectors = sectorsOf(pathTableBytes);
  let little = pathTable * sectorBytes;
  let big = (pathTable + tableSectors) * sectorBytes;
  for (const directory of directories) {
    const identifier = identifierOf(directory, dialect);
    const extent = extents.get(directory) ?? 0;
    const parent = numbers.get(directory.parent) ?? 1;
    for (const at of [little, big]) {
      image.writeUInt8(identifier.length, at);
      image.set(identifier, at + 8);
    }
    image.writeUInt32LE(extent, little + 2);
    image.writeUInt16LE(parent, little + 6);
    image.writeUInt32BE(extent, big + 2);
    image.writeUInt16BE(parent, big + 6);
    little += pathEntryBytes(directory, dialect);
    big += pathEntryBytes(directory, dialect);
  }
}

function writeDirectories(image: Buffer, layout: TreeLayout, contents: ReadonlyMap<FileNode, number>): void {
  for (const [directory, extent] of layout.extents) {
    const places = { extents: layout.extents, contents };
    image.set(recordsOf(directory, layout.dialect, places), extent * sectorBytes);
  }
}

interface Places {
  readonly extents: ReadonlyMap<DirectoryNode, number>;
  readonly contents: ReadonlyMap<FileNode, number>;
}

/** All records of a directory. Without places only its size is right. */
function recordsOf(directory: DirectoryNode, dialect: Dialect, places?: Places): Buffer {
  const ownBytes = places ? sectorsOf(recordsOf(directory, dialect).length) * sectorBytes : 0;
  const parentBytes = places ? sectorsOf(recordsOf(directory.parent, dialect).length) * sectorBytes : 0;
  const at = (node: DirectoryNode): number => places?.extents.get(node) ?? 0;
  const children = [
    ...directory.directories.map((node) => {
      const bytes = places ? sectorsOf(recordsOf(node, dialect).length) * sectorBytes : 0;
      return { identifier: dialect.encodeName(node, true), sector: at(node), bytes, isDirectory: true };
    }),
    ...directory.files.map((node) => ({
      identifier: dialect.encodeName(node, false),
      sector: places?.contents.get(node) ?? 0,
      bytes: node.bytes.length,
      isDirectory: false,
    })),
  ].sort((a, b) => Buffer.compare(a.identifier, b.identifier));
  const records = [
    record({ identifier: Buffer.of(0), sector: at(directory), bytes: ownBytes, isDirectory: true }),
    record({ identifier: Buffer.of(1), sector: at(directory.parent), bytes: parentBytes, isDirectory: true }),
    ...children.map(record),
  ];
  return joinRecords(records);
}

/** A record never lies across two sectors. */
function joinRecords(records: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [];
  let length = 0;
  for (const each of records) {
    const left = sectorBytes - (length % sectorBytes);
    if (each.length > left) parts.push(Buffer.alloc(left));
    if (each.length > left) length += left;
    parts.push(each);
    length += each.length;
  }
  return Buffer.concat(parts);
}

interface RecordFields {
  readonly identifier: Buffer;
  readonly sector: number;
  readonly bytes: number;
  readonly isDirectory: boolean;
}

function record({ identifier, sector, bytes, isDirectory }: RecordFields): Buffer {
  const buffer = Buffer.alloc(even(33 + identifier.length));
  buffer.writeUInt8(buffer.length, 0);
  writeBoth32(buffer, sector, 2);
  writeBoth32(buffer, bytes, 10);
  buffer.set(recordDate, 18);
  buffer.writeUInt8(isDirectory ? 2 : 0, 25);
  writeBoth16(buffer, 1, 28);
  buffer.writeUInt8(identifier.length, 32);
  buffer.set(identifier, 33);
  return buffer;
}

function writeDescriptor(
  image: Buffer,
  sector: number,
  {
    layout,
    label,
    sectors,
  }: { readonly layout: TreeLayout; readonly label: string; readonly sectors: number },
): void {
  const { dialect, pathTable, pathTableBytes, extents, directories } = layout;
  const root = directories[0];
  if (!root) return;
  const buffer = image.subarray(sector * sectorBytes, (sector + 1) * sectorBytes);
  const blank = dialect === joliet ? '\0' : ' ';
  buffer.writeUInt8(dialect.descriptorType, 0);
  buffer.write('CD001', 1, 'latin1');
  buffer.writeUInt8(1, 6);
  buffer.write(blank.repeat(32), 8, 'latin1');
  buffer.set(dialect.encodeLabel(label), 40);
  writeBoth32(buffer, sectors, 80);
  buffer.write(dialect.escape, 88, 'latin1');
  writeBoth16(buffer, 1, 120);
  writeBoth16(buffer, 1, 124);
  writeBoth16(buffer, sectorBytes, 128);
  writeBoth32(buffer, pathTableBytes, 132);
  buffer.writeUInt32LE(pathTable, 140);
  buffer.writeUInt32BE(pathTable + sectorsOf(pathTableBytes), 148);
  const bytes = sectorsOf(recordsOf(root, dialect).length) * sectorBytes;
  const extent = extents.get(root) ?? 0;
  buffer.set(record({ identifier: Buffer.of(0), sector: extent, bytes, isDirectory: true }), 156);
  buffer.write(blank.repeat(623), 190, 'latin1');
  for (const at of [813, 830, 847, 864]) buffer.write('0'.repeat(16), at, 'latin1');
  buffer.writeUInt8(1, 881);
}

function sectorsOf(bytes: number): number {
  return Math.ceil(bytes / sectorBytes);
}

function even(length: number): number {
  return length + (length % 2);
}

function writeBoth32(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt32LE(value, at);
  buffer.writeUInt32BE(value, at + 4);
}

function writeBoth16(buffer: Buffer, value: number, at: number): void {
  buffer.writeUInt16LE(value, at);
  buffer.writeUInt16BE(value, at + 2);
}

function wide(text: string): Buffer {
  return Buffer.from(text, 'utf16le').swap16();
}

function padded(bytes: Buffer, length: number, filler: string): Buffer {
  return Buffer.concat([bytes, Buffer.from(filler.repeat(length), 'latin1')]).subarray(0, length);
}

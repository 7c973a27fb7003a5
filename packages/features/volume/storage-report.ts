import type { KubeObject } from '@sheaf/api';
import type { UnownedFile, VolumeCapabilities, VolumeSpace } from '@sheaf/ports';

/** On the CSIDriver, as JSON, for programs and pages. */
const capabilitiesAnnotation = 'sheaf.dev/capabilities';
const spaceAnnotation = 'sheaf.dev/space';
/** Space that no object accounts for; absent: there is none. */
const unownedAnnotation = 'sheaf.dev/unowned-space';

const filesShown = 20;
/** Space is told in steps: each change is a write. */
const stepBytes = 64 * 1024 ** 2;

export interface StorageReport {
  readonly capabilities: VolumeCapabilities;
  readonly space: VolumeSpace;
  readonly unowned: readonly UnownedFile[];
}

/** The driver's object with what is known of it; the very same one if nothing has changed. */
export function reportedDriver(
  driver: KubeObject,
  { capabilities, space, unowned }: StorageReport,
): KubeObject {
  const { [unownedAnnotation]: _, ...others } = driver.metadata.annotations ?? {};
  const annotations = {
    ...others,
    [capabilitiesAnnotation]: JSON.stringify(capabilities),
    [spaceAnnotation]: JSON.stringify(roughly(space)),
    ...(unowned.length > 0 ? { [unownedAnnotation]: JSON.stringify(unownedReport(unowned)) } : {}),
  };
  const old = driver.metadata.annotations ?? {};
  const names = new Set([...Object.keys(old), ...Object.keys(annotations)]);
  const given: Readonly<Record<string, string>> = annotations;
  if ([...names].every((name) => old[name] === given[name])) return driver;
  return { ...driver, metadata: { ...driver.metadata, annotations } };
}

function roughly({ totalBytes, freeBytes, promisedBytes, promisableBytes }: VolumeSpace): VolumeSpace {
  const floor = (bytes: number): number => Math.floor(bytes / stepBytes) * stepBytes;
  return {
    totalBytes,
    freeBytes: floor(freeBytes),
    promisedBytes: Math.ceil(promisedBytes / stepBytes) * stepBytes,
    promisableBytes: floor(promisableBytes),
  };
}

function unownedReport(files: readonly UnownedFile[]): object {
  const largest = files.toSorted((a, b) => b.allocatedBytes - a.allocatedBytes || (a.path < b.path ? -1 : 1));
  return {
    bytes: files.reduce((sum, { allocatedBytes }) => sum + allocatedBytes, 0),
    count: files.length,
    files: largest.slice(0, filesShown).map(({ path, allocatedBytes }) => ({ path, bytes: allocatedBytes })),
  };
}

/** Files that were unowned the last time, too: what is being made has its object a moment later. */
export function lastingUnowned(
  now: readonly UnownedFile[],
  before: ReadonlySet<string>,
): readonly UnownedFile[] {
  return now.filter(({ path }) => before.has(path));
}

export function unownedMessage(unowned: readonly UnownedFile[]): string {
  const bytes = unowned.reduce((sum, { allocatedBytes }) => sum + allocatedBytes, 0);
  const [first] = unowned;
  const more = unowned.length > 1 ? ` and ${unowned.length - 1} more` : '';
  return `${bytes} bytes belong to no object: ${first?.path ?? ''}${more}; move the files away when nobody misses them`;
}

import type { MachineSpec } from '@sheaf/ports';

/** What the memory of a machine fits to: the parts of it that its guest has found, by name, each as a text. */
export type MachineLayout = Readonly<Record<string, string>>;

/** What no guest gets to know of a disk. */
const unseen = { file: undefined, limits: undefined, bootOrder: undefined, io: undefined };

/** Names, files, addresses on the host and limits may differ; what a guest has got to know may not. */
export function layoutOf(spec: MachineSpec): MachineLayout {
  const { cpu, memory, firmware, watchdog } = spec;
  const parts: Readonly<Record<string, unknown>> = {
    machineType: spec.machineType,
    cpu,
    'memory.bytes': memory.bytes,
    'memory.maxBytes': memory.maxBytes,
    firmware: [firmware.kind, firmware.kind === 'efi' && firmware.isSecureBoot],
    disks: spec.disks.map((disk) => ({ ...disk, ...unseen })),
    nics: spec.nics.map(({ name, model, mac, link }) => [name, model, mac, link.kind]),
    hasGraphics: spec.hasGraphics,
    hasSerialConsole: spec.hasSerialConsole,
    hasAgentChannel: spec.hasAgentChannel,
    hasRandomSource: spec.hasRandomSource,
    hasBalloon: spec.hasBalloon,
    hasTablet: spec.hasTablet === true,
    watchdog: watchdog?.model,
    tpm: spec.tpm !== undefined,
  };
  return Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, canonical(part)]));
}

/** The parts in which two machines differ. */
export function differences(a: MachineLayout, b: MachineLayout): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].filter((name) => a[name] !== b[name]);
}

/** The same for the same content, in whatever order its fields are. */
function canonical(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) =>
      typeof part === 'object' && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : part,
    ) ?? ''
  );
}

import type { SandboxSpec } from '@sheaf/ports';
import type { SandboxNames } from './name-files.ts';
import { refusals } from './refusals.ts';

/** What containers of a sandbox need to know of it. */
export interface SandboxSharing {
  readonly processes: SandboxSpec['processes'];
  readonly sharedMemory: SandboxSpec['sharedMemory'];
  readonly network: SandboxSpec['network']['kind'];
  /** Absent of one that was made before its names were written down: it has files of the engine. */
  readonly names?: SandboxNames;
}

/** Names and labels by which the engine's containers are known. */
export type EngineRole = 'sandbox' | 'container';

export const labelNames = {
  role: 'sheaf.role',
  id: 'sheaf.id',
  sandbox: 'sheaf.sandbox',
  title: 'sheaf.title',
  /** All of the caller's, so that none of them can be mistaken for these. */
  labels: 'sheaf.labels',
  /** Of a sandbox: what its containers share. */
  sharing: 'sheaf.sharing',
} as const;

const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,199}$/;

/** @throws StatusError for an id that could name something else */
export function engineName(role: EngineRole, id: string): string {
  if (!idPattern.test(id)) throw refusals.badId(id);
  return `${role}-${id}`;
}

export function engineLabels(facts: {
  readonly role: EngineRole;
  readonly id: string;
  readonly sandboxId: string;
  readonly title: string;
  readonly labels: Readonly<Record<string, string>>;
}): Record<string, string> {
  return {
    [labelNames.role]: facts.role,
    [labelNames.id]: facts.id,
    [labelNames.sandbox]: facts.sandboxId,
    [labelNames.title]: facts.title,
    [labelNames.labels]: JSON.stringify(facts.labels),
  };
}

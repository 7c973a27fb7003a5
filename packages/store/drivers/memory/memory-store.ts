import type { Logger } from '@sheaf/base';
import { emptyState, firstRevision } from '../../journal.ts';
import { RevisionLog } from '../../log/revision-log.ts';
import { MemoryJournal } from './memory-journal.ts';

export interface MemoryStoreOptions {
  readonly logger?: Logger;
}

/** A store for tests and simulation: the semantics of the one on disk, without timers, clock or input and output. */
export class MemoryStore extends RevisionLog {
  constructor(options: MemoryStoreOptions = {}) {
    super({ journal: new MemoryJournal(firstRevision), state: emptyState(), ...options });
  }
}

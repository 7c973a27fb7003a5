import { identityOf, isAlive } from '../qemu/process-identity.ts';
import {
  type ContainerDetail,
  isCalledNew,
  type ListedContainer,
  parseDetail,
  parseList,
  parseListed,
  type SeenContainer,
} from './engine-containers.ts';
import { type EngineRole, engineName, labelNames } from './engine-names.ts';
import { type RestCall, RestError } from './rest-client.ts';
import type { RunRecords } from './run-records.ts';

export interface CatalogParts {
  readonly call: (call: Pick<RestCall, 'method' | 'path'>) => Promise<unknown>;
  readonly records: RunRecords;
  readonly bootId: string;
  /** Whether the kernel still knows that it ended a process of it for want of memory. */
  readonly hasRunOutOfMemory: (engineId: string) => boolean;
  /** Ends a container that nobody watches over any more: the engine would take it for running for ever. */
  readonly endUnwatched: (container: ListedContainer) => Promise<void>;
}

/** Of a process that was ended by SIGKILL. */
const killedCode = 137;

const nothingYet: ContainerDetail = {
  startedAt: undefined,
  endedAt: undefined,
  exitCode: 0,
  isOutOfMemory: false,
  stopSignal: 15,
  watcherId: 0,
  hasInput: false,
  hasTerminal: false,
  addresses: [],
  executions: [],
  networkPath: undefined,
};

/** The engine's containers that are ours, looked at anew each time; only what cannot change any more is kept. */
export class EngineCatalog {
  readonly #parts: CatalogParts;
  readonly #ending = new Map<string, Promise<void>>();
  #next: Promise<readonly SeenContainer[]> | undefined;
  #details = new Map<string, { readonly key: string; readonly detail: ContainerDetail }>();

  constructor(parts: CatalogParts) {
    this.#parts = parts;
  }

  /** Those who ask at the same moment share one look. */
  async all(): Promise<readonly SeenContainer[]> {
    this.#next ??= Promise.resolve().then(() => {
      this.#next = undefined;
      return this.#lookAtAll();
    });
    return await this.#next;
  }

  async find(role: EngineRole, id: string): Promise<SeenContainer | undefined> {
    const look = async (): Promise<readonly SeenContainer[]> => {
      const found = await this.#lookAtOne(engineName(role, id));
      return found ? [found] : [];
    };
    const [found] = await this.#watched(look);
    return found;
  }

  /** Containers of a sandbox. */
  async within(sandboxId: string): Promise<readonly SeenContainer[]> {
    const labels = [`${labelNames.role}=container`, `${labelNames.sandbox}=${sandboxId}`];
    return await this.#watched(() => this.#look(labels));
  }

  async #lookAtAll(): Promise<readonly SeenContainer[]> {
    const found = await this.#watched(() => this.#look());
    const ids = new Set(found.map(({ listed }) => listed.engineId));
    this.#details = new Map([...this.#details].filter(([id]) => ids.has(id)));
    return found;
  }

  /** What is seen, once those that nobody watches over are ended. */
  async #watched(look: () => Promise<readonly SeenContainer[]>): Promise<readonly SeenContainer[]> {
    const found = await look();
    if (!found.some(isUnwatched)) return found;
    // One that has just ended is told as ended now.
    const unwatched = (await look()).filter(isUnwatched);
    for (const { listed } of unwatched) await this.#endUnwatched(listed);
    return await look();
  }

  /** Once, however many look. */
  async #endUnwatched(listed: ListedContainer): Promise<void> {
    const { engineId } = listed;
    const under = this.#ending.get(engineId);
    if (under) return await under;
    const ending = this.#parts.endUnwatched(listed).finally(() => this.#ending.delete(engineId));
    this.#ending.set(engineId, ending);
    await ending;
  }

  async #look(labels: readonly string[] = []): Promise<readonly SeenContainer[]> {
    const filters = encodeURIComponent(JSON.stringify({ label: [labelNames.role, ...labels] }));
    const answer = await this.#parts.call({
      method: 'GET',
      path: `/containers/json?all=true&filters=${filters}`,
    });
    const seen = await Promise.all(parseList(answer).map((listed) => this.#see(listed)));
    return seen.filter((found) => found !== undefined);
  }

  async #lookAtOne(name: string): Promise<SeenContainer | undefined> {
    const answer = await this.#inspect(name);
    const listed = answer === undefined ? undefined : parseListed(answer);
    return listed && (await this.#see(listed, parseDetail(answer)));
  }

  /** `undefined` for one that has been removed meanwhile. */
  async #see(listed: ListedContainer, told?: ContainerDetail): Promise<SeenContainer | undefined> {
    const { records, bootId } = this.#parts;
    const name = engineName(listed.role, listed.id);
    const record = await records.read(name);
    // After a restart of the host one that had ended may be called so, too: the engine forgets that, but not how it ended.
    const isNew = isCalledNew(listed) && (record === undefined || record.bootId === bootId);
    const detail = isNew ? nothingYet : await this.#detail(listed, told);
    if (detail?.isOutOfMemory && record?.isOutOfMemory === undefined)
      await records.add(name, { isOutOfMemory: true });
    return detail && { listed, detail, record, bootId };
  }

  async #detail(listed: ListedContainer, told?: ContainerDetail): Promise<ContainerDetail | undefined> {
    const { engineId, state, processId } = listed;
    // What has stopped is tidied up, and has exited then; nothing else changes.
    const hasStopped = ['stopped', 'exited'].includes(state);
    const key = `${hasStopped ? 'exited' : state} ${processId}`;
    const kept = this.#details.get(engineId);
    if (kept?.key === key) return kept.detail;
    const detail = this.#completed(engineId, told ?? (await this.#detailOf(engineId)));
    const isFinal = state === 'running' || isCalledNew(listed) || detail?.endedAt !== undefined;
    if (detail && isFinal) this.#details.set(engineId, { key, detail });
    return detail;
  }

  async #detailOf(engineId: string): Promise<ContainerDetail | undefined> {
    const answer = await this.#inspect(engineId);
    return answer === undefined ? undefined : parseDetail(answer);
  }

  #completed(engineId: string, told: ContainerDetail | undefined): ContainerDetail | undefined {
    const isSuspect = told?.exitCode === killedCode && !told.isOutOfMemory;
    return isSuspect ? { ...told, isOutOfMemory: this.#parts.hasRunOutOfMemory(engineId) } : told;
  }

  /** `undefined` where there is none. */
  async #inspect(name: string): Promise<unknown> {
    try {
      return await this.#parts.call({ method: 'GET', path: `/containers/${name}/json` });
    } catch (error) {
      if (error instanceof RestError && error.status === 404) return undefined;
      throw error;
    }
  }
}

function isUnwatched({ listed, detail, bootId }: SeenContainer): boolean {
  if (listed.state !== 'running' || detail.watcherId === 0) return false;
  const identity = identityOf(detail.watcherId, bootId);
  return identity === undefined || !isAlive(identity, bootId);
}

import type { Clock } from '@sheaf/base';
import type {
  AttachOrder,
  ContainerEnd,
  ContainerObservation,
  ContainerSpec,
  LogLine,
  ProcessOrder,
} from '@sheaf/ports';
import { SimulatedConnection } from './simulated-connection.ts';
import type { SimulatedFileTree } from './simulated-file-tree.ts';
import { type ProcessSurroundings, SimulatedProcess } from './simulated-process.ts';
import type { SimulatedSandbox } from './simulated-sandbox.ts';

export interface ContainerSite {
  readonly clock: Clock;
  readonly files: SimulatedFileTree;
  readonly sandbox: SimulatedSandbox;
  readonly processId: number;
  readonly log: LogLine[];
  /** Places of its mounts on the host, in their order. */
  readonly places: readonly string[];
  readonly onChange: () => void;
}

/** One container of a simulated host; it goes on while no driver is open. */
export class SimulatedContainer {
  readonly spec: ContainerSpec;
  readonly createdAt: number;
  readonly connections = new Set<SimulatedConnection>();
  startedAt: number | undefined;
  endedAt: number | undefined;
  end: ContainerEnd | undefined;
  process: SimulatedProcess | undefined;
  readonly #site: ContainerSite;
  readonly #ownFiles = new Map<string, string>();
  readonly #onEnd: (() => void)[] = [];
  #executed = 0;

  constructor(spec: ContainerSpec, site: ContainerSite) {
    this.spec = spec;
    this.#site = site;
    this.createdAt = site.clock.now();
  }

  get state(): ContainerObservation['state'] {
    if (this.end) return 'ended';
    return this.startedAt === undefined ? 'starting' : 'running';
  }

  get processId(): number {
    return this.#site.processId;
  }

  get processCount(): number {
    return this.state === 'running' ? 1 + this.#executed : 0;
  }

  observe(): ContainerObservation {
    const { id, sandboxId, title, labels, imageId } = this.spec;
    return {
      id,
      sandboxId,
      title,
      labels,
      imageId,
      createdAt: this.createdAt,
      ...(this.startedAt !== undefined && { startedAt: this.startedAt }),
      state: this.state,
      ...(this.end && { end: this.end }),
      ...(this.endedAt !== undefined && { endedAt: this.endedAt }),
      ...(this.state === 'running' && { processId: this.#site.processId }),
    };
  }

  /** Runs the guest with its arguments; or waits, if it is to run something else. */
  start(): void {
    this.startedAt = this.#site.clock.now();
    const { entryPoint, arguments: given = [] } = this.spec;
    const [program, ...first] = entryPoint ?? ['/guest'];
    const steps = program === '/guest' ? [...first, ...given] : ['stay'];
    this.process = new SimulatedProcess(steps, {
      hasInput: this.spec.hasInput,
      surroundings: {
        ...this.#surroundings(this.spec.hasTerminal),
        print: (stream, text) => this.print(stream, text),
        onEnd: (code, isOutOfMemory) =>
          this.finish(
            isOutOfMemory ? { cause: 'out-of-memory', exitCode: code } : { cause: 'exited', exitCode: code },
          ),
      },
    });
    this.process.run();
    this.#site.onChange();
  }

  print(stream: 'stdout' | 'stderr', text: string): void {
    const time = `${new Date(this.#site.clock.now()).toISOString().slice(0, -1)}000000Z`;
    for (const line of text.replace(/\n$/, '').split('\n'))
      this.#site.log.push({ time, stream, content: new TextEncoder().encode(line), isPart: false });
    for (const connection of this.connections) connection.print(stream, text);
    this.#site.onChange();
  }

  finish(end: ContainerEnd): void {
    if (this.end) return;
    this.end = end;
    if (this.startedAt !== undefined && end.cause !== 'lost') this.endedAt = this.#site.clock.now();
    for (const connection of this.connections) connection.end();
    this.connections.clear();
    for (const tell of this.#onEnd.splice(0)) tell();
    this.#site.onChange();
  }

  /** Calls back at its end, at once if that has been. */
  whenEnded(tell: () => void): void {
    if (this.end) tell();
    else this.#onEnd.push(tell);
  }

  attach(order: AttachOrder): SimulatedConnection {
    const { hasTerminal, endsInputOnce } = this.spec;
    const hasInput = order.hasInput && this.spec.hasInput;
    const endsInput = hasInput && endsInputOnce === true && !hasTerminal;
    const connection = new SimulatedConnection({
      process: () => this.process,
      hasInput,
      hasTerminal,
      endsInput,
      exitCode: () => (this.end && 'exitCode' in this.end ? this.end.exitCode : undefined),
      onDispose: () => {
        this.connections.delete(connection);
        if (endsInput) this.process?.endInput();
      },
    });
    this.connections.add(connection);
    return connection;
  }

  execute(order: ProcessOrder): SimulatedConnection {
    let code: number | undefined;
    const connection = new SimulatedConnection({
      process: () => process,
      hasInput: order.hasInput,
      hasTerminal: order.hasTerminal,
      endsInput: true,
      exitCode: () => code,
      onDispose: () => process.kill(),
    });
    const [program, ...steps] = order.command;
    const process = new SimulatedProcess(program === '/guest' ? steps : [], {
      hasInput: order.hasInput,
      surroundings: {
        ...this.#surroundings(order.hasTerminal),
        print: (stream, text) => connection.print(stream, text),
        onEnd: (ended) => {
          code = ended;
          this.#executed--;
          connection.end();
        },
      },
    });
    this.#executed++;
    this.whenEnded(() => process.kill());
    process.run();
    return connection;
  }

  #surroundings(hasTerminal: boolean): Omit<ProcessSurroundings, 'print' | 'onEnd'> {
    return {
      hasTerminal,
      readFile: (path) => this.#read(path),
      appendFile: (path, text) => this.#append(path, text),
      ask: (question) => this.#answer(question),
      listen: (port) => this.#site.sandbox.listeners.set(port, this),
      memoryLimitBytes: this.spec.resources.memoryLimitBytes,
    };
  }

  #read(path: string): string | undefined {
    const place = this.#placeOf(path);
    if (place) return this.#site.files.read(place.path);
    return this.#site.sandbox.nameFile(path) ?? this.#ownFiles.get(path);
  }

  #append(path: string, text: string): boolean {
    const place = this.#placeOf(path);
    if (!place) {
      if (this.spec.security.hasReadOnlyRoot === true) return false;
      if (this.#site.sandbox.writeNameFile(path, text)) return true;
      this.#ownFiles.set(path, (this.#ownFiles.get(path) ?? '') + text);
      return true;
    }
    if (place.isReadOnly) return false;
    this.#site.files.write(place.path, (this.#site.files.read(place.path) ?? '') + text);
    return true;
  }

  /** Of a path below a mount. */
  #placeOf(path: string): { readonly path: string; readonly isReadOnly: boolean } | undefined {
    for (const [index, { containerPath, isReadOnly = false }] of this.spec.mounts.entries()) {
      const place = this.#site.places[index] ?? '';
      if (path === containerPath) return { path: place, isReadOnly };
      if (path.startsWith(`${containerPath}/`))
        return { path: place + path.slice(containerPath.length), isReadOnly };
    }
    return undefined;
  }

  #answer(question: string): string {
    const [word, name = ''] = question.split(' ');
    const { environment, workingDirectory = '/', security } = this.spec;
    const [user = '0', group = '0'] = (security.user ?? '0:0').split(':');
    const answers: Readonly<Record<string, () => string>> = {
      variable: () => environment[name] ?? '',
      directory: () => workingDirectory,
      user: () => [user, group, group, ...(security.supplementalGroups ?? [])].join(' '),
      host: () => this.#site.sandbox.spec.hostname,
      processes: () => String(this.#site.sandbox.processesSeenBy(this)),
    };
    return answers[word ?? '']?.() ?? `no step: ${question}`;
  }
}

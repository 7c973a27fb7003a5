import type { ContainersWorld, WorldRegistry } from '@sheaf/ports/containers/containers.contract';
import { SeededRandom } from '../seeded-random.ts';
import { allTasks } from '../settle.ts';
import { TestClock } from '../test-clock.ts';
import {
  type SimulatedArchive,
  SimulatedContainerHost,
  SimulatedContainerImages,
  SimulatedContainers,
} from './index.ts';

const guest: SimulatedArchive['image'] = {
  id: `sha256:${'9'.repeat(64)}`,
  bytes: 2_000_000,
  user: '',
  entryPoint: ['/guest'],
  arguments: [],
  createdAt: 0,
};

/** A simulated host for containers, and a clock that moves when the suite lets time pass. */
export class SimulatedContainersWorld implements ContainersWorld {
  readonly clock = new TestClock();
  readonly host: SimulatedContainerHost;
  readonly guestTag = 'localhost/test/guest:1';
  #opened:
    | { readonly containers: SimulatedContainers; readonly images: SimulatedContainerImages }
    | undefined;

  constructor(seed = 1) {
    this.host = new SimulatedContainerHost({ clock: this.clock, random: new SeededRandom(seed) });
    this.host.addImage(this.guestTag, guest);
    const absent = (program: string | undefined): string | undefined =>
      program === '/no/such/program' ? `${program}: no such file or directory` : undefined;
    this.host.faults.startFailure = ({ entryPoint }) => absent(entryPoint?.[0]);
    this.host.faults.executeFailure = ({ command }) => absent(command[0]);
    this.host.faults.pullStallMs = 1500;
  }

  open(): { readonly containers: SimulatedContainers; readonly images: SimulatedContainerImages } {
    this.#opened?.images.dispose();
    this.#opened = {
      containers: new SimulatedContainers(this.host),
      images: new SimulatedContainerImages(this.host),
    };
    return this.#opened;
  }

  async *archive(_kind: 'docker' | 'oci', tag: string): AsyncGenerator<Uint8Array> {
    const archive: SimulatedArchive = { tag, image: guest };
    yield await Promise.resolve(new TextEncoder().encode(JSON.stringify(archive)));
  }

  openRegistry(options: Parameters<ContainersWorld['openRegistry']>[0]): Promise<WorldRegistry> {
    const reference = 'registry.example/test/guest:1';
    const authority = options.isTls === true ? 'the authority of the registry' : undefined;
    this.host.sources.set(reference, {
      image: guest,
      ...(options.login && { login: options.login }),
      ...(authority !== undefined && { authority }),
      isStalling: options.isStalling === true,
    });
    return Promise.resolve({ reference, ...(authority !== undefined && { authority }) });
  }

  makeDirectory(name: string): Promise<string> {
    this.host.files.makeDirectory(`/files/${name}`);
    return Promise.resolve(`/files/${name}`);
  }

  writeFile(path: string, text: string): Promise<void> {
    this.host.files.write(path, text);
    return Promise.resolve();
  }

  makeLink(path: string, target: string): Promise<void> {
    this.host.files.link(path, target);
    return Promise.resolve();
  }

  readFile(path: string): Promise<string> {
    return Promise.resolve(this.host.files.read(path) ?? '');
  }

  async pass(milliseconds: number): Promise<void> {
    await allTasks();
    this.clock.advance(milliseconds);
    await allTasks();
  }

  kill(processId: number): Promise<void> {
    for (const container of this.host.containers.values())
      if (container.processId === processId) this.host.kill(container.spec.id);
    return Promise.resolve();
  }

  restartHost(): Promise<void> {
    this.#opened?.containers.dispose();
    this.host.restart();
    return Promise.resolve();
  }

  traces(): Promise<readonly string[]> {
    const { sandboxes, containers, logs } = this.host;
    return Promise.resolve([...sandboxes.keys(), ...containers.keys(), ...logs.keys()].toSorted());
  }
}

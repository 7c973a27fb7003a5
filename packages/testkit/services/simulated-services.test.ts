import type { Disposable } from '@sheaf/base';
import type { ProxiedPort, ProxyBackend, ServiceProxy } from '@sheaf/ports';
import {
  type BenchPod,
  type BenchTarget,
  type ServiceBench,
  testServiceProxy,
} from '@sheaf/ports/service-proxy.contract';
import { SeededRandom } from '../seeded-random.ts';
import { SimulatedServiceHost, SimulatedServiceProxy } from './index.ts';

class SimulatedBench implements ServiceBench {
  readonly #host = new SimulatedServiceHost(new SeededRandom(7));
  readonly #names = new Map([['127.0.0.1:9', 'host part']]);
  readonly #addresses = new Map([['host', '192.0.2.1']]);
  #opened: ServiceProxy | undefined;
  #ports = 30_000;

  open(): ServiceProxy {
    this.#opened?.dispose();
    this.#opened = new SimulatedServiceProxy(this.#host, 'one');
    return this.#opened;
  }

  openOther(): ServiceProxy {
    return new SimulatedServiceProxy(this.#host, 'other');
  }

  addPod(name: string): Promise<BenchPod> {
    this.#host.pods++;
    const address = `10.42.0.${this.#host.pods + 1}`;
    this.#names.set(`${address}:8080`, name);
    this.#addresses.set(name, address);
    const remove = (): Promise<void> => {
      this.#host.pods--;
      this.#names.delete(`${address}:8080`);
      return Promise.resolve();
    };
    return Promise.resolve({ name, address, remove });
  }

  addPart(): Promise<ProxyBackend> {
    return Promise.resolve({ address: '127.0.0.1', port: 9 });
  }

  serviceAddress(number: number): string {
    return `10.43.0.${number}`;
  }

  freePort(): Promise<number> {
    this.#ports++;
    return Promise.resolve(this.#ports);
  }

  takePort(protocol: ProxiedPort['protocol'], port: number): Promise<Disposable> {
    const key = `${protocol}/${port}`;
    if (this.#host.ports.has(key)) throw new Error(`${key} is taken`);
    this.#host.ports.set(key, 'another program');
    return Promise.resolve({ dispose: () => void this.#host.ports.delete(key) });
  }

  ask(from: string, target: BenchTarget): Promise<{ name: string; client: string } | undefined> {
    const client = this.#addresses.get(from) ?? '';
    const backend = this.#host.lead(client, target);
    const name = backend && this.#names.get(`${backend.address}:${backend.port}`);
    return Promise.resolve(name === undefined ? undefined : { name, client });
  }

  async sendUntil(from: string, target: BenchTarget, claim: (name: string) => boolean): Promise<void> {
    while (!claim((await this.ask(from, target))?.name ?? '')) await Promise.resolve();
  }

  flush(): Promise<void> {
    this.#host.rules.clear();
    return Promise.resolve();
  }

  traces(): Promise<readonly string[]> {
    const held = [...this.#host.ports].filter(([, mark]) => mark === 'one').map(([key]) => key);
    const rules = (this.#host.rules.get('one') ?? []).map((service) => JSON.stringify(service));
    return Promise.resolve([...held, ...rules].toSorted((a, b) => a.localeCompare(b)));
  }
}

testServiceProxy('simulated', (use) => use(new SimulatedBench()));

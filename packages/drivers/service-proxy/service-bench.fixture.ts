import { createHash, randomUUID } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { type Disposable, silentLogger } from '@sheaf/base';
import type { ProxiedPort, ProxyBackend, ServiceProxy } from '@sheaf/ports';
import type { BenchPod, BenchTarget, ServiceBench } from '@sheaf/ports/service-proxy.contract';
import { PodSubnet } from '../podman/podman-world.fixture.ts';
import { findProgram, runProgram } from '../qemu/run-program.ts';
import { type Answer, ask, send, serve } from './bench-agent.fixture.ts';
import { chainNames } from './chain-names.ts';
import { noRules } from './kernel-rules.ts';
import { PodProcess } from './pod-process.fixture.ts';
import { openServiceProxy, type ServiceProxyOptions } from './register.ts';
import { findRulePrograms, restoreRules, savedTables } from './rule-programs.ts';
import { ownPart, ruleText } from './rule-text.ts';

/** Why rules cannot be tried here. */
export const rulesAreMissing =
  (process.getuid?.() === 0 ? undefined : 'rules of the kernel need root') ??
  (findRulePrograms() ? undefined : 'iptables is not installed: apt-get install iptables') ??
  (findProgram('ip') ? undefined : 'ip is not installed: apt-get install iproute2');

/** Networks of this host with a process in each, on a bridge of their own. */
export class HostBench implements ServiceBench {
  readonly mark = createHash('sha256').update(randomUUID()).digest('hex').slice(0, 10);
  readonly otherMark = this.mark.split('').toReversed().join('');
  readonly bridgeName = `sht${this.mark}`;
  readonly #subnet: PodSubnet;
  readonly #pods = new Map<string, PodProcess>();
  readonly #proxies: ServiceProxy[] = [];
  readonly #parts: Disposable[] = [];
  #given = 1;

  private constructor(subnet: PodSubnet) {
    this.#subnet = subnet;
  }

  static async with(use: (bench: HostBench) => Promise<void>): Promise<void> {
    const bench = new HostBench(await PodSubnet.take());
    try {
      await use(bench);
    } finally {
      await bench.#dispose();
    }
  }

  options(): ServiceProxyOptions {
    const { mark, bridgeName } = this;
    return {
      mark,
      bridgeName,
      serviceNetwork: this.#subnet.cidr.replace(
        /^100\.(\d+)/,
        (_, second: string) => `10.${Number(second) + 64}`,
      ),
      logger: silentLogger,
    };
  }

  open(): ServiceProxy {
    // Its sockets go with a process that is killed; nothing else does.
    this.#proxies.at(-1)?.dispose();
    return this.#opened(openServiceProxy(this.options()));
  }

  openOther(): ServiceProxy {
    const { otherMark: mark } = this;
    return this.#opened(openServiceProxy({ ...this.options(), mark, bridgeName: `sho${mark}` }));
  }

  async addPod(name: string): Promise<BenchPod> {
    const { bridgeName } = this;
    if (!existsSync(`/sys/class/net/${bridgeName}`)) await this.#addBridge();
    this.#given++;
    const address = this.#address(this.#given);
    const network = this.#networkName(name);
    const link = `${this.#given}${bridgeName}`.slice(0, 15);
    await ip('netns', 'add', network);
    await ip('link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', network);
    await ip('link', 'set', link, 'master', bridgeName, 'up');
    await ip('-n', network, 'address', 'add', `${address}/26`, 'dev', 'eth0');
    for (const each of ['eth0', 'lo']) await ip('-n', network, 'link', 'set', each, 'up');
    await ip('-n', network, 'route', 'add', 'default', 'via', this.#address(1));
    const pod = new PodProcess(network, name);
    this.#pods.set(name, pod);
    await pod.ready();
    return { name, address, remove: () => this.#remove(name) };
  }

  async addPart(): Promise<ProxyBackend> {
    const part = await serve('host part', '127.0.0.1', 0);
    this.#parts.push(part);
    return { address: '127.0.0.1', port: part.port };
  }

  serviceAddress(number: number): string {
    const [, before = '', last = ''] = /^(.*\.)(\d+)\//.exec(this.options().serviceNetwork) ?? [];
    return `${before}${Number(last) + number}`;
  }

  async freePort(): Promise<number> {
    const part = await serve('nobody', '127.0.0.1', 0);
    part.dispose();
    return part.port;
  }

  takePort(protocol: ProxiedPort['protocol'], port: number): Promise<Disposable> {
    return new Promise((resolve, reject) => {
      if (protocol === 'TCP') {
        const server = createServer();
        server
          .once('error', reject)
          .listen(port, '127.0.0.1', () => resolve({ dispose: () => void server.close() }));
        return;
      }
      const socket = createSocket('udp4');
      socket
        .once('error', reject)
        .bind(port, '127.0.0.1', () => resolve({ dispose: () => void socket.close() }));
    });
  }

  async ask(from: string, target: BenchTarget): Promise<Answer | undefined> {
    return from === 'host' ? await ask(target) : await this.#pods.get(from)?.ask(target);
  }

  async sendUntil(from: string, target: BenchTarget, claim: (name: string) => boolean): Promise<void> {
    const pod = this.#pods.get(from);
    if (pod) return await pod.sendUntil(target, claim);
    await new Promise<void>((resolve) => {
      const sending = send(target, ({ name }) => {
        if (!claim(name)) return;
        sending.dispose();
        resolve();
      });
    });
  }

  async flush(): Promise<void> {
    await takeRulesAway(this.mark);
  }

  async traces(): Promise<readonly string[]> {
    return await rulesOf(this.mark);
  }

  async #addBridge(): Promise<void> {
    await writeFile('/proc/sys/net/ipv4/ip_forward', '1');
    await ip('link', 'add', this.bridgeName, 'type', 'bridge');
    await ip('address', 'add', `${this.#address(1)}/26`, 'dev', this.bridgeName);
    await ip('link', 'set', this.bridgeName, 'up');
  }

  #address(number: number): string {
    const [, before = '', last = ''] = /^(.*\.)(\d+)\//.exec(this.#subnet.cidr) ?? [];
    return `${before}${Number(last) + number}`;
  }

  #networkName(name: string): string {
    return `sheaf-${this.mark}-${name}`;
  }

  #opened(proxy: ServiceProxy): ServiceProxy {
    this.#proxies.push(proxy);
    return proxy;
  }

  /** The bridge goes with the last one, as that of podman does. */
  async #remove(name: string): Promise<void> {
    await this.#pods.get(name)?.end();
    this.#pods.delete(name);
    await ip('netns', 'delete', this.#networkName(name));
    if (this.#pods.size === 0) await ip('link', 'delete', this.bridgeName);
  }

  async #dispose(): Promise<void> {
    for (const name of [...this.#pods.keys()]) await this.#remove(name);
    for (const each of [...this.#proxies, ...this.#parts]) each.dispose();
    for (const mark of [this.mark, this.otherMark]) await takeRulesAway(mark);
    this.#subnet.giveBack();
  }
}

/** Of one Sheaf on this host. */
export async function rulesOf(mark: string): Promise<readonly string[]> {
  const programs = findRulePrograms();
  const text = programs ? ownPart(await savedTables(programs), chainNames(mark)) : '';
  return text === '' ? [] : text.split('\n').toSorted();
}

async function takeRulesAway(mark: string): Promise<void> {
  const programs = findRulePrograms();
  if (!programs) return;
  await restoreRules(programs, ruleText(noRules, await savedTables(programs), chainNames(mark)).text);
}

async function ip(...words: string[]): Promise<void> {
  const { status, errors } = await runProgram('ip', words);
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${errors}`);
}

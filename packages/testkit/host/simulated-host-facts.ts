import type { Host, HostFacts } from '@sheaf/ports';

const gibibyte = 2 ** 30;

/** A host with four processors and 16 GiB. A test changes its facts as it likes. */
export class SimulatedHostFacts implements Host {
  facts: HostFacts = {
    hostname: 'node-1',
    addresses: [{ family: 'IPv4', address: '192.0.2.10' }],
    cpuCount: 4,
    memoryBytes: 16 * gibibyte,
    availableMemoryBytes: 12 * gibibyte,
    operatingSystem: 'linux',
    architecture: 'amd64',
    osImage: 'Debian GNU/Linux 12 (bookworm)',
    kernelVersion: '6.1.0-18-amd64',
    bootId: 'boot-1',
    machineId: 'machine-1',
    systemUuid: 'system-1',
    disk: { totalBytes: 100 * gibibyte, availableBytes: 60 * gibibyte },
    processes: { count: 200, limit: 32_768 },
    uptimeSeconds: 60,
  };
  #boots = 1;

  async read(signal: AbortSignal): Promise<HostFacts> {
    await Promise.resolve();
    signal.throwIfAborted();
    return this.facts;
  }

  change(facts: Partial<HostFacts>): void {
    this.facts = { ...this.facts, ...facts };
  }

  reboot(): void {
    this.change({ bootId: `boot-${++this.#boots}`, uptimeSeconds: 0 });
  }
}

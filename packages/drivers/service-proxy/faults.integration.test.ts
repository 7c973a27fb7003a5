import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ProxiedService } from '@sheaf/ports';
import { TestClock } from '@sheaf/testkit';
import { runProgram } from '../qemu/run-program.ts';
import { serve } from './bench-agent.fixture.ts';
import { openServiceProxy } from './register.ts';
import { HostBench, rulesAreMissing, rulesOf } from './service-bench.fixture.ts';

const { signal } = new AbortController();

function wish(bench: HostBench, number: number, address: string): ProxiedService {
  const backends = [{ address, port: 8080 }];
  return {
    id: `default/web-${number}`,
    addresses: [bench.serviceAddress(number)],
    externalAddresses: [],
    ports: [{ protocol: 'TCP', port: 80, backends, outsideBackends: backends }],
  };
}

describe('rules of Services, when something is wrong', { skip: rulesAreMissing }, () => {
  it('one Service whose rules the kernel refuses does not stand in the way of the others', () =>
    HostBench.with(async (bench) => {
      const proxy = bench.open();
      await proxy.probe(signal);
      const [one, two] = [await bench.addPod('one'), await bench.addPod('two')];
      const bad = wish(bench, 1, one.address);
      const ports = bad.ports.map((port) => ({
        ...port,
        backends: [...port.backends, { address: two.address, port: 8080 }],
      }));
      const services = [{ ...bad, ports, affinitySeconds: 2 ** 40 }, wish(bench, 2, two.address)];
      const [problem, ...others] = await proxy.apply(services, signal);
      assert.deepEqual(others, []);
      assert.equal(problem?.reason, 'RulesRefused');
      assert.equal(problem.serviceId, 'default/web-1');
      assert.match(problem.message, /out of range/);
      const target = { protocol: 'TCP', address: bench.serviceAddress(2), port: 80 } as const;
      assert.equal((await bench.ask('one', target))?.name, 'two');
    }));

  it('pods reach nothing on the loopback but what Services lead to', () =>
    HostBench.with(async (bench) => {
      const proxy = bench.open();
      await proxy.probe(signal);
      const one = await bench.addPod('one');
      const secret = await serve('secret', '127.0.0.5', 0);
      try {
        await leaveLoopback(`sheaf-${bench.mark}-one`, one.address);
        const target = { protocol: 'TCP', address: '127.0.0.5', port: secret.port } as const;
        await runProgram('sysctl', ['-qw', `net.ipv4.conf.${bench.bridgeName}.route_localnet=1`]);
        assert.equal((await bench.ask('one', target))?.name, 'secret', 'without a guard it would be reached');
        await proxy.apply([wish(bench, 1, one.address)], signal);
        let isReached = false;
        void bench.ask('one', target).then((answer) => {
          isReached = answer !== undefined;
        });
        await dropped(bench.mark);
        assert.equal(isReached, false);
      } finally {
        secret.dispose();
      }
    }));

  it('what a killed Sheaf without pods has left goes with the first rules of another one, and of no living one', () =>
    HostBench.with(async (dead) => {
      await HostBench.with(async (bench) => {
        const living = dead.openOther();
        const [killed, one] = [dead.open(), await dead.addPod('one')];
        for (const proxy of [living, killed]) {
          await proxy.probe(signal);
          await proxy.apply([wish(dead, 1, one.address)], signal);
        }
        const [left, kept] = [await rulesOf(dead.mark), await rulesOf(dead.otherMark)];
        assert.ok(left.length > 0 && kept.length > 0);
        killed.dispose();
        const two = await bench.addPod('two');
        const next = bench.open();
        await next.probe(signal);
        await next.apply([wish(bench, 1, two.address)], signal);
        assert.deepEqual(await rulesOf(dead.mark), left, 'its pods run on');
        await one.remove();
        const last = bench.open();
        await last.probe(signal);
        await last.apply([wish(bench, 1, two.address)], signal);
        assert.deepEqual(await rulesOf(dead.mark), []);
        assert.deepEqual(await rulesOf(dead.otherMark), kept);
      });
    }));

  it('without iptables it is said what to install', () =>
    HostBench.with(async (bench) => {
      const proxy = openServiceProxy({ ...bench.options(), findPrograms: () => undefined });
      const { services } = await proxy.probe(signal);
      assert.deepEqual(services, {
        isAvailable: false,
        reason: 'iptables is not installed',
        wayOut: 'apt-get install iptables',
      });
      const { address } = await bench.addPod('one');
      await assert.rejects(
        proxy.apply([wish(bench, 1, address)], signal),
        /cannot be served: iptables is not installed; apt-get install/,
      );
      await proxy.release(signal);
      const programs = { save: '/sbin/iptables-save', restore: '/bin/false' };
      const broken = openServiceProxy({ ...bench.options(), findPrograms: () => programs });
      assert.match((await broken.probe(signal)).services.reason, /does not take rules: .*ended with 1/);
    }));

  it('another program that undoes the rules is noticed', () =>
    HostBench.with(async (bench) => {
      const warnings: string[] = [];
      const logger = { ...bench.options().logger, warn: (message: string) => void warnings.push(message) };
      const proxy = openServiceProxy({ ...bench.options(), logger });
      await proxy.probe(signal);
      const one = await bench.addPod('one');
      for (let time = 0; time < 2; time++) await proxy.apply([wish(bench, 1, one.address)], signal);
      assert.deepEqual(warnings, []);
      await bench.flush();
      assert.deepEqual(await rulesOf(bench.mark), []);
      await proxy.apply([wish(bench, 1, one.address)], signal);
      assert.deepEqual(warnings, ['rules of Services were changed by somebody else; they are made again']);
    }));

  it('what was seen is believed for as long as it may be, unless something else is wanted', () =>
    HostBench.with(async (bench) => {
      const clock = new TestClock();
      const proxy = openServiceProxy({ ...bench.options(), trust: { clock, milliseconds: 5000 } });
      await proxy.probe(signal);
      const one = await bench.addPod('one');
      const wanted = [wish(bench, 1, one.address)];
      await proxy.apply(wanted, signal);
      await bench.flush();
      await proxy.apply(wanted, signal);
      assert.deepEqual(await rulesOf(bench.mark), []);
      await proxy.apply([...wanted, wish(bench, 2, one.address)], signal);
      assert.notDeepEqual(await rulesOf(bench.mark), []);
      await bench.flush();
      clock.advance(5000);
      await proxy.apply([...wanted, wish(bench, 2, one.address)], signal);
      assert.notDeepEqual(await rulesOf(bench.mark), []);
    }));
});

/** A pod with all rights over its network sends to the loopback of the host. */
async function leaveLoopback(network: string, address: string): Promise<void> {
  const gateway = address.replace(/\d+$/, (last) => String(Number(last) - 1));
  for (const command of [
    'sysctl -qw net.ipv4.conf.eth0.route_localnet=1',
    'ip route delete local 127.0.0.0/8 dev lo table local',
    `ip route add 127.0.0.5 via ${gateway} src ${address}`,
  ]) {
    const { status, errors } = await runProgram('ip', ['netns', 'exec', network, ...command.split(' ')]);
    assert.equal(status, 0, errors);
  }
}

/** Resolves when the guard has taken away a packet. */
async function dropped(mark: string): Promise<void> {
  for (;;) {
    const { output } = await runProgram('iptables', ['-w', '-t', 'filter', '-nvxL', `SHEAF-${mark}-GUARD`]);
    if (/^\s*[1-9]\d*\s+\d+\s+DROP/m.test(output)) return;
  }
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type AddonHost, namespace } from '../../tests/addons/addon-host.ts';
import { cpuMilliseconds } from '../measure/process-usage.ts';
import type { Results } from '../report/table.ts';

export const rowNames = {
  enable: 'enabled until deployed, beside helm install',
  disable: 'disabled until gone, beside helm uninstall',
} as const;

const name = 'pages';
const pollMs = 10;
const idleAddons = 10;
/** What the last operation has left to do is done by then. */
const restMs = 10_000;
const betweenMs = 2000;

interface OneOptions {
  readonly results: Results;
  readonly rounds: number;
}

/**
 * The same chart by hand and as an add-on, in turns; the first round counts for nothing. What a deed leaves to be done, pods that start
 * or end, is over before the next one.
 */
export async function measureOne(host: AddonHost, { results, rounds }: OneOptions): Promise<void> {
  await host.make(name);
  await host.reaches(name, 'AddonDisabled');
  const archive = join(host.directory, 'charts', `${name}-1.0.0.tgz`);
  const place = ['--namespace', namespace];
  for (let round = 0; round <= rounds; round++) {
    const peer = {
      enable: await elapsed(() => host.helm('install', 'hand', archive, ...place)),
      disable: await elapsed(() => host.helm('uninstall', 'hand', ...place)),
    };
    const subject = {
      enable: await elapsed(() => switched(host, true)),
      disable: await elapsed(() => switched(host, false)),
    };
    if (round === 0) continue;
    for (const deed of ['enable', 'disable'] as const) {
      const measure = { name: rowNames[deed], unit: 'ms', better: 'lower' as const };
      results.add('peer', { ...measure, value: peer[deed] });
      results.add('subject', { ...measure, value: subject[deed] });
    }
  }
}

async function elapsed(deed: () => Promise<unknown>): Promise<number> {
  await pause(betweenMs);
  const begun = performance.now();
  await deed();
  return performance.now() - begun;
}

async function switched(host: AddonHost, enabled: boolean, of = name): Promise<void> {
  await host.change(of, { enabled });
  const wanted = enabled ? 'AddonDeploySuccessful' : 'AddonDisabled';
  while ((await host.addon(of)).status?.status !== wanted) await pause(pollMs);
}

interface IdleOptions {
  readonly results: Results;
  readonly idleSeconds: number;
}

/** Sheaf with ten add-ons that are on and rest, beside the same Sheaf without one. */
export async function measureIdle(host: AddonHost, { results, idleSeconds }: IdleOptions): Promise<void> {
  const share = async (): Promise<number> => {
    await pause(restMs);
    const before = cpuMilliseconds([host.processId]);
    await pause(idleSeconds * 1000);
    return (cpuMilliseconds([host.processId]) - before) / (idleSeconds * 10);
  };
  const measure = {
    name: 'Sheaf at rest, without and with ten add-ons',
    unit: '%',
    better: 'lower' as const,
  };
  results.add('peer', { ...measure, value: await share() });
  for (let number = 0; number < idleAddons; number++) {
    const chart = `idle${number}`;
    await makeChart(host, chart);
    await host.make(chart, { chart });
    await switched(host, true, chart);
  }
  results.add('subject', { ...measure, value: await share() });
}

/** Without a pod: what is measured is what its add-on costs. */
async function makeChart(host: AddonHost, chart: string): Promise<void> {
  const source = join(host.directory, 'sources', chart);
  await mkdir(join(source, 'templates'), { recursive: true });
  await writeFile(join(source, 'Chart.yaml'), `apiVersion: v2\nname: ${chart}\nversion: 1.0.0\n`);
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: chart } };
  await writeFile(join(source, 'templates/map.yaml'), JSON.stringify(map));
  await host.helm('package', source, '--destination', join(host.directory, 'charts'));
}

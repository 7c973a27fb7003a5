import { identityOf } from '@sheaf/api';
import type { Pod } from '@sheaf/api/workload/index';
import { DisposableStore } from '@sheaf/base';
import { resources } from '@sheaf/client';
import type { ContainerImages, Containers, NetworkChecks, PodVolumes } from '@sheaf/ports';
import { EventRecorder, keyOf, type Manager } from '@sheaf/runtime';
import { AccountTokens } from './account-tokens.ts';
import { ContainerChecks } from './container-checks.ts';
import { FailedStarts } from './failed-starts.ts';
import { HostView } from './host-view.ts';
import { ImageKeeper } from './image-keeper.ts';
import { LifecycleHooks } from './lifecycle-hooks.ts';
import { readPodData } from './pod-content.ts';
import { ProbeRunner } from './probe-runner.ts';
import { reconcilePod } from './reconcile.ts';
import { credentialsFor } from './registry-credentials.ts';
import { type PodEvent, RunLauncher } from './run-launcher.ts';
import { RunStopper } from './run-stopper.ts';
import { SandboxAddresses } from './sandbox-addresses.ts';
import type { ClusterNames } from './sandbox-plan.ts';
import { StartHooks } from './start-hooks.ts';
import { type FindDisk, VolumeKeeper } from './volume-keeper.ts';

export interface PodHost {
  readonly nodeName: string;
  readonly containers: Containers;
  /** Those of them that are programs of the host: looked at by themselves, which is quicker. */
  readonly programs?: Containers | undefined;
  readonly images: ContainerImages;
  readonly volumes: PodVolumes;
  readonly checks: NetworkChecks;
  /** The preferred one first. */
  readonly hostAddresses: () => readonly string[];
  readonly clusterNames: () => ClusterNames;
  /** The disk behind a claim, or why there is none yet. */
  readonly diskOf: FindDisk;
  /** Images that a loaded bundle has brought: their names mean these. Absent: none. */
  readonly isBundled?: (reference: string) => boolean;
}

const concurrency = 8;
/** What is on the host without the API's knowledge is looked for that often. */
const sweepMs = 30_000;

/** Runs the pods of this node, and says how they are. */
export function register(manager: Manager, host: PodHost): void {
  const { client, clock, random, logger } = manager;
  const { containers, images, volumes, nodeName } = host;
  const lifetime = new DisposableStore();
  const recorder = new EventRecorder({ client, clock, random, logger, component: 'kubelet' });
  const pods = manager.informer(resources.pods);
  const nodes = manager.informer(resources.nodes);
  const services = manager.informer(resources.services);
  const keys = new Map<string, string>();
  const podOf = (uid: string): Pod | undefined => {
    const pod = pods.cache.get(keys.get(uid) ?? '');
    return pod?.metadata.uid === uid && pod.spec.nodeName === nodeName ? pod : undefined;
  };
  const wake = (podUid: string): void => loop.queue.add(podUid);
  const tell = (pod: Pod, event: PodEvent): void => {
    if (pod.metadata.name !== undefined)
      recorder.record({ about: { resource: resources.pods, ...identityOf(pod) }, ...event });
  };
  const addresses = new SandboxAddresses(containers);
  const checks = new ContainerChecks({
    containers,
    network: host.checks,
    addressOf: async (sandboxId, signal) =>
      (await addresses.find(sandboxId, signal)) ?? host.hostAddresses()[0] ?? '127.0.0.1',
  });
  const hooks = new LifecycleHooks(checks, clock);
  const keeper = lifetime.add(
    new ImageKeeper({
      images,
      isBundled: host.isBundled ?? (() => false),
      clock,
      tell,
      async credentialsOf(pod, reference, signal) {
        const data = await readPodData(client, pod, signal);
        return credentialsFor(pod, reference, (name) => data.secretObject(name));
      },
    }),
  );
  const probes = lifetime.add(
    new ProbeRunner({
      clock,
      onChange: wake,
      tell: (pod, event) => tell(pod, { type: 'Warning', ...event }),
      carryOut: ({ container, run: { observed } }, probe, signal) =>
        checks.carryOut({ container, runId: observed.id, sandboxId: observed.sandboxId }, probe, signal),
    }),
  );
  const failed = new FailedStarts(clock);
  const startHooks = lifetime.add(new StartHooks({ containers, hooks, logger, tell, onEnd: wake }));
  const tokens = new AccountTokens({ client, clock });
  const parts = {
    ...host,
    client,
    clock,
    podOf,
    nodes: nodes.cache,
    services: services.cache,
    view: new HostView(containers),
    programView: host.programs && new HostView(host.programs),
    imageKeeper: keeper,
    launcher: new RunLauncher({ containers, volumes, images: keeper, tell, startHooks, failed }),
    stopper: new RunStopper({ containers, hooks, clock, logger, tell, onEnd: wake }),
    probes,
    startHooks,
    volumeKeeper: new VolumeKeeper({ volumes, tokens, diskOf: host.diskOf }),
    tell,
    forget: (podUid: string) => {
      tokens.forget(podUid);
      failed.forgetPod(podUid);
      addresses.forgetPod(podUid);
      probes.keep(podUid, new Set());
      keys.delete(podUid);
    },
  };
  const loop = manager
    .controller({ name: 'pod', concurrency, reconcile: (uid, signal) => reconcilePod(parts, uid, signal) })
    .watchMapped(pods, (pod) => {
      const { uid } = identityOf(pod);
      keys.set(uid, keyOf(pod));
      return pod.spec.nodeName === nodeName ? [uid] : [];
    })
    .watchMapped(nodes, () => [])
    .watchMapped(services, () => []);
  lifetime.add(containers.onChange((sandboxId) => wake(podUidOf(sandboxId))));
  lifetime.add(
    images.onPull((orderId) => {
      const podUid = keeper.podOf(orderId);
      if (podUid !== undefined) wake(podUid);
    }),
  );
  const sweep = manager.controller({
    name: 'pod-sweep',
    async reconcile(_, signal) {
      const { sandboxes } = await parts.view.look(signal);
      const known = await volumes.pods(signal);
      for (const uid of new Set([...sandboxes.map(({ id }) => podUidOf(id)), ...known]))
        if (!podOf(uid)) wake(uid);
      return { outcome: 'again', afterMs: sweepMs };
    },
    ready: () => pods.synced(),
  });
  sweep.queue.add('host');
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

/** Ids of sandboxes and of pulls begin with it. */
function podUidOf(id: string): string {
  return id.slice(0, id.indexOf('_'));
}

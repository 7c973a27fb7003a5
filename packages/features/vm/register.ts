import type { ApiExtensions, KubeObject } from '@sheaf/api';
import type { PersistentVolume } from '@sheaf/api/virtualization/index';
import { type Clock, type Disposable, DisposableStore, type Random } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import type { Hypervisor, MachineFiles, MachineMemories, Volumes } from '@sheaf/ports';
import { again, type Controller, EventRecorder, type Informer, keyOf, type Manager } from '@sheaf/runtime';
import { admissionRules } from './admission-rules.ts';
import { claimUseRule } from './claim-use.ts';
import { type ContainerDiskParts, sweepContainerDisks } from './container-disks.ts';
import { HostSweep } from './host-sweep.ts';
import { claimNameOf } from './instance-spec.ts';
import type { LiveAbilities } from './live-size.ts';
import { planPlugs } from './network-links.ts';
import { reconcileMachine } from './reconcile.ts';
import { reconcileInstance } from './reconcile-instance.ts';
import { extendByRequests } from './requests.ts';
import { readSeeds } from './seed-reader.ts';
import { StartLedger } from './start-ledger.ts';
import { isDeleting, type VirtualMachine, type VirtualMachineInstance } from './virtual-machine.ts';
import { instanceResource, machineResource, revisionResource } from './vm-resources.ts';
import { volumeAccessRule } from './volume-access.ts';
import { claimTemplatesOf } from './volume-objects.ts';

export { registerAccess } from './access-roles.ts';

export interface VirtualMachineOptions {
  readonly volumes: Pick<Volumes, 'find'>;
  /** What running machines can be given. */
  readonly abilities: () => LiveAbilities;
  /** Removes what outlives the instances of a machine, by the machine's UID; nothing there: nothing to do. */
  readonly forgetPersistent: (machineUid: string, signal: AbortSignal) => Promise<void>;
}

export interface InstanceOptions {
  readonly hypervisor: Hypervisor;
  readonly volumes: Pick<Volumes, 'find'>;
  readonly files: MachineFiles;
  /** Memory that machines may go on with; absent: none is kept here. */
  readonly memories?: Pick<MachineMemories, 'list'>;
  /** Disks in container images; absent: this host has none. */
  readonly containers?: ContainerDiskParts;
  readonly nodeName: string;
  /** Memory that machines may have altogether, in bytes, for as long as the Node does not tell. */
  readonly memoryBytes: () => number;
  /** Whether this node has a bridge of the name now. */
  readonly hasBridge: (name: string) => boolean;
}

export interface ExtendOptions {
  readonly client: Client;
  readonly hypervisor: Hypervisor;
  readonly clock: Clock;
  /** For the names of what requests make. */
  readonly random: Random;
}

/** Adds the rules of writing virtual machines, and what can be asked of them, to the API. */
export function extend(api: ApiExtensions, options: ExtendOptions): void {
  for (const rule of [...admissionRules(), volumeAccessRule, claimUseRule]) api.addAdmission(rule);
  extendByRequests(api, options);
}

const concurrency = 4;
/** A pass over an instance mostly waits for its process. */
const instanceConcurrency = 16;
/** Many that start at once do not look at all machines for each. */
const keptLookMs = 1000;

/** Makes and removes instances as the run strategies of virtual machines want them; once in a cluster. */
export function registerMachines(manager: Manager, options: VirtualMachineOptions): void {
  const { client, clock, random } = manager;
  const machines = manager.informer(machineResource);
  const instances = manager.informer(instanceResource);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const persistentVolumes = manager.informer(resources.persistentVolumes);
  const revisions = manager.informer(revisionResource);
  const dataVolumes = manager.informer(resources.dataVolumes);
  const parts = {
    ...options,
    client,
    clock,
    random,
    recorder: recorderOf(manager, 'virtualmachine-controller'),
    machines: machines.cache,
    instances: instances.cache,
    claims: claims.cache,
    persistentVolumes: persistentVolumes.cache,
    revisions: revisions.cache,
    dataVolumes: dataVolumes.cache,
  };
  const controller = manager
    .controller({
      name: 'virtual-machine',
      concurrency,
      reconcile: (key, signal) => reconcileMachine(parts, key, signal),
    })
    .watch(machines)
    .watchMapped(instances, () => [])
    .watchMapped(revisions, () => [])
    .watchMapped(claims, (claim) => machinesOf(claim, machines))
    .watchMapped(persistentVolumes, (volume) => machinesOf(claimOf(volume), machines))
    .watchMapped(dataVolumes, (dataVolume) => machinesOf(dataVolume, machines));
  const lifetime = new DisposableStore();
  lifetime.add(
    instances.onChange(({ object, old }) => {
      const one = object ?? old;
      if (one) controller.queue.addAfter(keyOf(one), isBeingStarted(object) ? gatherMs : 0);
    }),
  );
  // Without its revision a running machine only cannot be told from how it was started.
  lifetime.add(
    revisions.onChange(({ object, old }) => {
      const { namespace = '', ownerReferences = [] } = (object ?? old)?.metadata ?? {};
      for (const { name } of ownerReferences) controller.queue.addAfter(`${namespace}/${name}`, gatherMs);
    }),
  );
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

/** What a start goes through in a moment is told of in one write. */
const gatherMs = 200;

function isBeingStarted(instance: VirtualMachineInstance | undefined): boolean {
  const phase = instance?.status?.phase;
  if (!instance || isDeleting(instance)) return false;
  return phase === undefined || phase === 'Scheduled';
}

/** Component names are those that tools look for in the events of KubeVirt. */
function recorderOf({ client, clock, random, logger }: Manager, component: string): EventRecorder {
  return new EventRecorder({ client, clock, random, logger, component });
}

/** Which claim a volume is for, as far as it is needed to find its users. */
function claimOf({ spec: { claimRef } }: PersistentVolume): KubeObject {
  const { namespace = '', name = '' } = claimRef ?? {};
  return { metadata: { namespace, name } };
}

/** Those that use a claim, or the claim of a data volume, and those that it is a template of. */
function machinesOf(volume: KubeObject, machines: Informer<VirtualMachine>): readonly string[] {
  const { namespace, name } = volume.metadata;
  const makers = machines.cache
    .list(namespace)
    .filter((machine) => claimTemplatesOf(machine).some(({ metadata }) => metadata.name === name));
  const users = usersOf(volume, machines, ({ spec }) => spec.template.spec.volumes);
  return [...new Set([...users, ...makers.map(keyOf)])];
}

/** Runs the instances of this node. */
export function registerInstances(manager: Manager, options: InstanceOptions): void {
  const { client, clock } = manager;
  const { hypervisor } = options;
  const machines = manager.informer(machineResource);
  const instances = manager.informer(instanceResource);
  const claims = manager.informer(resources.persistentVolumeClaims);
  const persistentVolumes = manager.informer(resources.persistentVolumes);
  const networks = manager.informer(resources.networkAttachmentDefinitions);
  const nodes = manager.informer(resources.nodes);
  const namespaces = manager.informer(resources.namespaces);
  const pods = manager.informer(resources.pods);
  const settings = manager.informer(resources.settings);
  const sources = { findDefinition: (key: string) => networks.cache.get(key), hasBridge: options.hasBridge };
  const parts = {
    ...options,
    client,
    clock,
    recorder: recorderOf(manager, 'virt-handler'),
    machines: machines.cache,
    instances: instances.cache,
    claims: claims.cache,
    persistentVolumes: persistentVolumes.cache,
    nodes: nodes.cache,
    namespaces: namespaces.cache,
    pods: pods.cache,
    settings: settings.cache,
    starts: new StartLedger({ keepMs: keptLookMs, monotonicMs: () => clock.monotonic() }),
    findPlugs: (instance: VirtualMachineInstance) => planPlugs(instance, sources),
    readSeeds: (instance: VirtualMachineInstance, signal: AbortSignal) => readSeeds(client, instance, signal),
  };
  const controller = manager
    .controller({
      name: 'virtual-machine-instance',
      concurrency: instanceConcurrency,
      reconcile: (key, signal) => reconcileInstance(parts, key, signal),
    })
    .watch(instances)
    .watchMapped(machines, () => [])
    .watchMapped(claims, (claim) => usersOf(claim, instances, ({ spec }) => spec.volumes))
    .watchMapped(persistentVolumes, (volume) =>
      usersOf(claimOf(volume), instances, ({ spec }) => spec.volumes),
    )
    // Room that is there again: the node was uncordoned, or has more than before.
    .watchMapped(nodes, () => instances.cache.list().filter(isBeforeStart).map(keyOf))
    .watchMapped(pods, ({ status }) =>
      status?.phase === 'Pending' ? [] : instances.cache.list().filter(isBeforeStart).map(keyOf),
    )
    .watchMapped(networks, () => instances.cache.list().filter(isBeforeStart).map(keyOf));
  parts.starts.onTurn((key) => controller.queue.add(key));
  const sweep = new HostSweep({ ...options, client, clock, logger: manager.logger });
  manager
    .controller({ name: 'virtual-machine-host', reconcile: (_key, signal) => sweep.run(signal) })
    .queue.add('host');
  const lifetime = new DisposableStore();
  if (options.containers)
    lifetime.add(
      watchContainers(manager, { containers: options.containers, machines, instances, controller }),
    );
  // An instance whose virtual machine is gone is let go of. What else happens to the machine is no concern of its instance.
  lifetime.add(
    machines.onChange(({ object, old }) => {
      const one = object ?? old;
      if (one && !(object && old)) controller.queue.add(keyOf(one));
    }),
  );
  lifetime.add(wakeOnChange(hypervisor, instances, (key) => controller.queue.add(key)));
  manager.add({ start: () => Promise.resolve(), stop: () => Promise.resolve(lifetime.dispose()) });
}

interface ContainerWatch {
  readonly containers: ContainerDiskParts;
  readonly machines: Informer<VirtualMachine>;
  readonly instances: Informer<VirtualMachineInstance>;
  readonly controller: Controller;
}

const containerSweepMs = 600_000;

/** Wakes what waits for a container image, and gives up images that nobody names any more. */
function watchContainers(
  manager: Manager,
  { containers, machines, instances, controller }: ContainerWatch,
): Disposable {
  manager
    .controller({
      name: 'container-disk',
      async reconcile(_key, signal) {
        const named = { machines: () => machines.cache.list(), instances: () => instances.cache.list() };
        await sweepContainerDisks(containers, named, signal);
        return again(containerSweepMs);
      },
    })
    .watchMapped(machines, ({ metadata }) => (metadata.deletionTimestamp === undefined ? [] : ['all']))
    .watchMapped(instances, () => [])
    .queue.add('all');
  return containers.disks.onChange((reference) => {
    for (const instance of instances.cache.list())
      if (instance.spec.volumes?.some(({ containerDisk }) => containerDisk?.image === reference))
        controller.queue.add(keyOf(instance));
  });
}

function isBeforeStart({ status }: VirtualMachineInstance): boolean {
  return status?.phase === undefined || status.phase === 'Pending' || status.phase === 'Scheduling';
}

function wakeOnChange(
  hypervisor: Hypervisor,
  instances: Informer<VirtualMachineInstance>,
  wake: (key: string) => void,
): Disposable {
  return hypervisor.onChange((id) => {
    const changed = instances.cache.list().find(({ metadata }) => metadata.uid === id);
    if (changed) wake(keyOf(changed));
  });
}

function usersOf<T extends VirtualMachine | VirtualMachineInstance>(
  { metadata }: KubeObject,
  informer: Informer<T>,
  volumesOf: (object: T) => VirtualMachineInstance['spec']['volumes'],
): readonly string[] {
  const users = informer.cache.list(metadata.namespace);
  const isUser = (object: T): boolean =>
    (volumesOf(object) ?? []).some((volume) => claimNameOf(volume) === metadata.name);
  return users.filter(isUser).map(keyOf);
}

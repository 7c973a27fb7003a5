import { type Condition, findCondition, type KubeObject } from '@sheaf/api';
import type {
  VirtualMachineImageSpec,
  VirtualMachineInstance,
  VirtualMachineInstanceSpec,
} from '@sheaf/api/virtualization/index';
import type { JsonObject } from '@sheaf/base';
import { type ResourceRef, refOf, resources } from '@sheaf/client';
import { type Action, foundCodes, People } from '../people.ts';
import {
  belongings,
  claimNames,
  classNames,
  imageNames,
  machineNames,
  namespaceNames,
  snapshotNames,
} from './kinds.ts';
import {
  claimOf,
  dataVolumeOf,
  type Place,
  randomMachine,
  randomStrategy,
  urlOf,
} from './machine-objects.ts';

/** What users do, and how often of 100 actions. */
const actions: readonly Action<Users>[] = [
  [10, 'create machine', (users) => users.createMachine()],
  [6, 'choose strategy', (users) => users.chooseStrategy()],
  [14, 'ask machine', (users) => users.askMachine()],
  [7, 'ask process', (users) => users.askProcess()],
  [5, 'delete machine', (users) => users.delete(resources.virtualMachines)],
  [3, 'make machine anew', (users) => users.makeAnew()],
  [3, 'delete instance', (users) => users.delete(resources.virtualMachineInstances)],
  [12, 'plug', (users) => users.plug()],
  [11, 'create claim', (users) => users.createClaim()],
  [6, 'grow', (users) => users.grow()],
  [4, 'delete claim', (users) => users.delete(resources.persistentVolumeClaims)],
  [6, 'take snapshot', (users) => users.takeSnapshot()],
  [3, 'delete snapshot', (users) => users.delete(resources.volumeSnapshots)],
  [3, 'create image', (users) => users.createImage()],
  [2, 'delete image', (users) => users.delete(resources.virtualMachineImages)],
  [2, 'create data volume', (users) => users.createDataVolume()],
  [1, 'delete data volume', (users) => users.delete(resources.dataVolumes)],
  [1, 'create namespace', (users) => users.createNamespace()],
  [1, 'delete namespace', (users) => users.deleteNamespace()],
];

const policies = ['Background', 'Foreground', 'Orphan', undefined] as const;
const machineRequests = ['start', 'stop', 'restart'] as const;
/** What each can be asked with besides. */
const hasty: Readonly<Record<(typeof machineRequests)[number], JsonObject>> = {
  start: { paused: true },
  stop: { gracePeriod: 0 },
  restart: { gracePeriodSeconds: 0 },
};
const processRequests = ['pause', 'unpause', 'unpause', 'reset'] as const;
/** People and programs that use machines and volumes. */
export class Users extends People {
  act(): void {
    this.actAs(this, actions);
  }

  /** Machines and their claims to begin with; all names that there are, if none are given. */
  furnish(claims: readonly string[] = claimNames, machines: readonly string[] = machineNames): void {
    const [namespace] = namespaceNames;
    const { random } = this.simulation;
    for (const name of claims) {
      const claim = claimOf(
        { namespace, name },
        { storageClassName: this.pick(classNames), mebibytes: 1 + this.below(3) },
      );
      this.perform(`furnish ${name}`, () => this.client.create(resources.persistentVolumeClaims, claim));
    }
    for (const name of machines) {
      const machine = randomMachine(random, { namespace, name });
      this.perform(`furnish ${name}`, () => this.client.create(resources.virtualMachines, machine));
    }
  }

  deleteEverything(): void {
    this.deleteAll([...belongings, resources.persistentVolumes]);
  }

  async createMachine(): Promise<void> {
    await this.client.create(
      resources.virtualMachines,
      randomMachine(this.simulation.random, this.#place(machineNames)),
    );
  }

  async makeAnew(): Promise<void> {
    const machine = this.some(resources.virtualMachines);
    if (!machine) return;
    await this.client.delete(resources.virtualMachines, refOf(machine), {});
    const { namespace = '', name = '' } = machine.metadata;
    await this.client.create(
      resources.virtualMachines,
      randomMachine(this.simulation.random, { namespace, name }),
    );
  }

  async chooseStrategy(): Promise<void> {
    const machine = this.some(resources.virtualMachines);
    if (!machine) return;
    const spec = { running: null, runStrategy: null, ...randomStrategy(this.simulation.random) };
    await this.client.patch(resources.virtualMachines, refOf(machine), { type: 'merge', body: { spec } });
  }

  /** Mostly what makes sense as it is now. */
  async askMachine(): Promise<void> {
    const machine = this.some(resources.virtualMachines);
    if (!machine) return;
    const sensible = this.#instanceOf(machine) ? this.pick(['stop', 'restart', 'restart'] as const) : 'start';
    const request = this.below(4) > 0 ? sensible : this.pick(machineRequests);
    const body = this.below(4) === 0 ? hasty[request] : {};
    await this.#put('virtualmachines', machine, { request, body });
  }

  async askProcess(): Promise<void> {
    const instance = this.some(resources.virtualMachineInstances);
    if (!instance) return;
    const conditions = instance.status?.conditions as readonly Condition[] | undefined;
    const isPaused = findCondition(conditions, 'Paused')?.status === 'True';
    const sensible = isPaused ? 'unpause' : this.pick(['pause', 'pause', 'reset']);
    const request = this.below(4) > 0 ? sensible : this.pick(processRequests);
    await this.#put('virtualmachineinstances', instance, { request, body: {} });
  }

  /** A volume more, or less, for the machine or for this run of it. */
  async plug(): Promise<void> {
    const machine = this.some(resources.virtualMachines);
    if (!machine) return;
    const instance = this.below(2) === 0 ? this.#instanceOf(machine) : undefined;
    const plural = instance ? 'virtualmachineinstances' : 'virtualmachines';
    const name = 'plugged';
    const isPlugged = hasVolume(instance?.spec ?? machine.spec.template.spec, name);
    const isRemoved = this.below(8) === 0 ? !isPlugged : isPlugged;
    if (isRemoved) return this.#put(plural, machine, { request: 'removevolume', body: { name } });
    const claimName = this.below(3) > 0 ? claimNames[2] : this.#claimName();
    const volumeSource = { persistentVolumeClaim: { claimName, hotpluggable: true } };
    const disk = { disk: { bus: this.pick(['scsi', 'virtio']) } };
    await this.#put(plural, machine, { request: 'addvolume', body: { name, disk, volumeSource } });
  }

  #instanceOf({ metadata }: KubeObject): VirtualMachineInstance | undefined {
    return this.objects
      .all(resources.virtualMachineInstances)
      .find((each) => each.metadata.name === metadata.name && each.metadata.namespace === metadata.namespace);
  }

  async createClaim(): Promise<void> {
    const place = this.#place(claimNames);
    const kind = this.below(6);
    const image = this.some(resources.virtualMachineImages);
    const imageClass = image?.status?.storageClassName;
    const dataSource = this.#originOf(kind);
    const storageClassName = kind === 2 && imageClass ? imageClass : this.pick(classNames);
    const mebibytes = 1 + this.below(3);
    await this.client.create(
      resources.persistentVolumeClaims,
      claimOf(place, { storageClassName, mebibytes, ...(dataSource ? { dataSource } : {}) }),
    );
  }

  #originOf(kind: number): { kind: string; name: string; apiGroup?: string } | undefined {
    if (kind === 0) return { kind: 'PersistentVolumeClaim', name: this.#claimName() };
    if (kind !== 1) return undefined;
    return { kind: 'VolumeSnapshot', name: this.pick(snapshotNames), apiGroup: 'snapshot.storage.k8s.io' };
  }

  async grow(): Promise<void> {
    const claim = this.some(resources.persistentVolumeClaims);
    if (!claim) return;
    const storage = `${2 + this.below(4)}Mi`;
    const body = { spec: { resources: { requests: { storage } } } };
    await this.client.patch(resources.persistentVolumeClaims, refOf(claim), { type: 'merge', body });
  }

  async takeSnapshot(): Promise<void> {
    const source = { persistentVolumeClaimName: this.#claimName() };
    await this.client.create(resources.volumeSnapshots, {
      metadata: this.#place(snapshotNames),
      spec: { source, volumeSnapshotClassName: 'longhorn-snapshot' },
    });
  }

  async createImage(): Promise<void> {
    const place = this.#place(imageNames);
    const claim = this.some(resources.persistentVolumeClaims);
    const isExport = claim !== undefined && this.below(4) === 0;
    const source = isExport ? exportOf(claim) : { sourceType: 'download' as const, url: urlOf(place.name) };
    await this.client.create(resources.virtualMachineImages, {
      metadata: place,
      spec: { backend: 'backingimage', displayName: place.name, retry: 3, ...source },
    });
  }

  async createDataVolume(): Promise<void> {
    const place = this.#place(machineNames.map((name) => `${name}-fetched`));
    await this.client.create(resources.dataVolumes, dataVolumeOf(place, this.simulation.random));
  }

  async createNamespace(): Promise<void> {
    await this.client.create(resources.namespaces, { metadata: { name: this.pick(namespaceNames) } });
  }

  async deleteNamespace(): Promise<void> {
    await this.client.delete(resources.namespaces, { name: this.pick(namespaceNames) });
  }

  async delete(resource: ResourceRef): Promise<void> {
    const object = this.some(resource);
    if (!object) return;
    const propagationPolicy = this.pick(policies);
    await this.client.delete(resource, refOf(object), propagationPolicy ? { propagationPolicy } : {});
  }

  async #put(
    plural: string,
    { metadata: { namespace = '', name = '' } }: KubeObject,
    { request, body }: { readonly request: string; readonly body: JsonObject },
  ): Promise<void> {
    const place = `/apis/subresources.kubevirt.io/v1/namespaces/${namespace}/${plural}/${name}/${request}`;
    const { status } = await this.client.send({
      method: 'PUT',
      target: place,
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    });
    if (status >= 300 && !foundCodes.has(status)) throw new Error(`it is answered with ${status}`);
  }

  /** Mostly where the most happens. */
  #place(names: readonly string[]): Place {
    const namespace = this.below(4) > 0 ? namespaceNames[0] : this.pick(namespaceNames);
    return { namespace, name: this.pick(names) };
  }

  /** The name of a claim, mostly of one that is there. */
  #claimName(): string {
    const claim = this.some(resources.persistentVolumeClaims);
    return (this.below(4) > 0 ? claim?.metadata.name : undefined) ?? this.pick(claimNames);
  }
}

function hasVolume(spec: VirtualMachineInstanceSpec | undefined, name: string): boolean {
  return spec?.volumes?.some((volume) => volume.name === name) === true;
}

function exportOf({
  metadata: { namespace = '', name = '' },
}: KubeObject): Pick<VirtualMachineImageSpec, 'sourceType' | 'pvcName' | 'pvcNamespace'> {
  return { sourceType: 'export-from-volume', pvcName: name, pvcNamespace: namespace };
}

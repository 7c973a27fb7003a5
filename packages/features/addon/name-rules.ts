import { type AdmissionObjects, decodeYaml, type GroupResource, type KubeObject } from '@sheaf/api';
import type { Addon, VirtualMachine } from '@sheaf/api/virtualization/index';
import { lvmUsers } from './lvm-users.ts';

export interface Refusal {
  readonly message: string;
  readonly wayOut: string;
}

export interface ChangeFacts {
  readonly addon: Addon;
  readonly old: Addon;
  readonly objects: AdmissionObjects;
}

/** What one add-on wants before it is switched. */
interface NameRule {
  readonly name: string;
  readonly namespace?: string;
  /** With this annotation `true`, nobody looks. */
  readonly bypass?: string;
  readonly check: (facts: ChangeFacts) => Refusal | undefined;
}

const nodes = ref('', 'nodes');
const machines = ref('kubevirt.io', 'virtualmachines');
const upgradeLogs = ref('harvesterhci.io', 'upgradelogs');
const flows = ref('logging.banzaicloud.io', 'flows');
const clusterFlows = ref('logging.banzaicloud.io', 'clusterflows');
const outputs = ref('logging.banzaicloud.io', 'outputs');
const clusterOutputs = ref('logging.banzaicloud.io', 'clusteroutputs');
const gpus = ref('devices.harvesterhci.io', 'vgpudevices');
const subnets = ref('kubeovn.io', 'subnets');
const storage = {
  classes: ref('storage.k8s.io', 'storageclasses'),
  claims: ref('', 'persistentvolumeclaims'),
  snapshotClasses: ref('snapshot.storage.k8s.io', 'volumesnapshotclasses'),
  snapshots: ref('snapshot.storage.k8s.io', 'volumesnapshots'),
  contents: ref('snapshot.storage.k8s.io', 'volumesnapshotcontents'),
  blockDevices: ref('harvesterhci.io', 'blockdevices'),
};

/** What the rules look at. Of kinds that nobody has defined there is nothing. */
export const nameReads: readonly GroupResource[] = [
  nodes,
  machines,
  upgradeLogs,
  flows,
  clusterFlows,
  outputs,
  clusterOutputs,
  gpus,
  subnets,
  ...Object.values(storage),
];

export const nameRules: readonly NameRule[] = [
  { name: 'rancher-vcluster', namespace: 'rancher-vcluster', check: checkHostname },
  {
    name: 'rancher-logging',
    bypass: 'harvesterhci.io/skipRancherLoggingAddonWebhookCheck',
    check: checkLogging,
  },
  {
    name: 'descheduler',
    bypass: 'harvesterhci.io/skipDeschedulerAddonWebhookCheck',
    check: ({ addon, objects }) =>
      addon.spec.enabled && objects.list(nodes).length < 2
        ? {
            message: 'there is one node only, so there is nothing to balance',
            wayOut: 'Add a node first.',
          }
        : undefined,
  },
  {
    name: 'pcidevices-controller',
    bypass: 'harvesterhci.io/skipPCIDevicesControllerAddonWebhookCheck',
    check: (facts) => {
      const users = usersOf(facts, (machine) => devicesOf(machine).length > 0);
      return isDisabled(facts) ? inUse('devices of the host', users) : undefined;
    },
  },
  {
    name: 'nvidia-driver-toolkit',
    bypass: 'harvesterhci.io/skipNvidiaDriverToolkitAddonWebhookCheck',
    check: checkGpus,
  },
  { name: 'kubeovn-operator', check: checkSubnets },
  {
    name: 'harvester-csi-driver-lvm',
    check: (facts) => {
      if (!isDisabled(facts)) return undefined;
      return inUse('its storage', lvmUsers(facts.objects, storage));
    },
  },
];

function ref(group: string, resource: string): GroupResource {
  return { group, resource };
}

function isDisabled({ addon, old }: ChangeFacts): boolean {
  return old.spec.enabled && !addon.spec.enabled;
}

function inUse(what: string, users: readonly string[]): Refusal | undefined {
  if (users.length === 0) return undefined;
  return {
    message: `${what} are used by ${users.join(', ')}`,
    wayOut: 'Stop using them first.',
  };
}

function checkHostname({ addon }: ChangeFacts): Refusal | undefined {
  if (!addon.spec.enabled) return undefined;
  const isOld = addon.spec.version === 'v0.19.0';
  const field = isOld ? 'hostname' : 'global.hostname';
  const wayOut = `Set ${field} in valuesContent to a name of at least two parts, such as rancher.example.org.`;
  try {
    const values = (decodeYaml(Buffer.from(addon.spec.valuesContent)).value ?? {}) as Record<string, unknown>;
    const holder = (isOld ? values : values['global']) as Record<string, unknown> | undefined;
    const name = holder?.['hostname'];
    if (typeof name === 'string' && isFullName(name)) return undefined;
    return { message: `${field} is no full domain name: ${JSON.stringify(name ?? null)}`, wayOut };
  } catch {
    return { message: 'the values are not YAML', wayOut: `Correct valuesContent. ${wayOut}` };
  }
}

function isFullName(name: string): boolean {
  const isAddress = /^[\d.]+$|:/.test(name);
  return (
    !isAddress && /^([a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\.)+[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/i.test(name)
  );
}

function checkLogging({ addon, old, objects }: ChangeFacts): Refusal | undefined {
  if (addon.spec.enabled === old.spec.enabled) return undefined;
  const logs = objects.list(upgradeLogs, 'harvester-system');
  if (logs.length > 0)
    return {
      message: `the logs of an upgrade are being collected: ${namesOf(logs)}`,
      wayOut: 'Delete the UpgradeLog first.',
    };
  return addon.spec.enabled ? checkOutputs(objects) : undefined;
}

interface Flow extends KubeObject {
  readonly spec?: {
    readonly localOutputRefs?: readonly string[];
    readonly globalOutputRefs?: readonly string[];
  };
}

function checkOutputs(objects: AdmissionObjects): Refusal | undefined {
  const has = (of: GroupResource, name: string, namespace: string | undefined): boolean =>
    objects.list(of, namespace).some(({ metadata }) => metadata.name === name);
  for (const flow of [...objects.list(flows), ...objects.list(clusterFlows)] as readonly Flow[]) {
    const { namespace, name } = flow.metadata;
    const { localOutputRefs = [], globalOutputRefs = [] } = flow.spec ?? {};
    const missing =
      localOutputRefs.find((output) => !has(outputs, output, namespace)) ??
      globalOutputRefs.find((output) => !has(clusterOutputs, output, undefined));
    if (missing !== undefined)
      return {
        message: `the flow ${namespace}/${name} names the output ${missing}, which is not there`,
        wayOut: 'Make the output, or take it out of the flow.',
      };
  }
  return undefined;
}

function devicesOf(machine: VirtualMachine): readonly string[] {
  const { hostDevices = [], gpus: own = [] } = machine.spec?.template.spec?.domain.devices ?? {};
  return [...hostDevices, ...own].map(({ name }) => name);
}

function usersOf({ objects }: ChangeFacts, uses: (machine: VirtualMachine) => boolean): readonly string[] {
  const users = objects.list(machines).filter((machine) => uses(machine as VirtualMachine));
  return users.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
}

function checkGpus(facts: ChangeFacts): Refusal | undefined {
  if (!isDisabled(facts)) return undefined;
  const names = new Set(
    facts.objects
      .list(gpus)
      .filter(({ metadata }) => metadata.labels?.['harvesterhci.io/parentSRIOVGPUDevice'] !== undefined)
      .map(({ metadata }) => metadata.name ?? ''),
  );
  return inUse(
    'virtual GPUs',
    usersOf(facts, (machine) => devicesOf(machine).some((name) => names.has(name))),
  );
}

interface Subnet extends KubeObject {
  readonly status?: { readonly v4usingIPs?: number; readonly v6usingIPs?: number };
}

function checkSubnets(facts: ChangeFacts): Refusal | undefined {
  if (!isDisabled(facts)) return undefined;
  const used = (facts.objects.list(subnets) as readonly Subnet[]).filter(
    ({ status }) => (status?.v4usingIPs ?? 0) + (status?.v6usingIPs ?? 0) > 0,
  );
  return used.length === 0
    ? undefined
    : { message: `addresses are in use in the subnets ${namesOf(used)}`, wayOut: 'Free them first.' };
}

function namesOf(objects: readonly KubeObject[]): string {
  return objects.map(({ metadata }) => metadata.name).join(', ');
}

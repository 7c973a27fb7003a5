import type { KubeObject, Waiting } from '@sheaf/api';
import { addonWaiting, chartWaiting, upgradeWaiting } from './addon-waiting.ts';
import { conditionOf, fault, houseWords, told } from './condition-words.ts';
import { at, textAt } from './connect.ts';
import { copyWaiting, imageWaiting, instanceWaiting, machineWaiting } from './machine-waiting.ts';
import { podWaiting } from './pod-waiting.ts';

/** What an object by itself says of why it is not in its goal state; `undefined`: nothing. Pure. */
export function findWaiting(object: KubeObject): Waiting | undefined {
  if (object.metadata.deletionTimestamp) return deletionOf(object);
  const kind = object.kind ?? '';
  const ofKind = Object.hasOwn(kinds, kind) ? kinds[kind] : undefined;
  return ofKind ? ofKind(object) : (unseen(object) ?? unmet(object) ?? houseWords(object));
}

const kinds: Readonly<Record<string, (object: KubeObject) => Waiting | undefined>> = {
  Addon: addonWaiting,
  HelmChart: chartWaiting,
  Pod: (pod) => podWaiting(pod, unmet),
  PersistentVolumeClaim: claimWaiting,
  CSIDriver: driverWaiting,
  CustomResourceDefinition: definitionWaiting,
  Job: jobWaiting,
  Node: nodeWaiting,
  Setting: settingWaiting,
  Upgrade: upgradeWaiting,
  KeyPair: keyPairWaiting,
  VirtualMachine: machineWaiting,
  VirtualMachineBackup: copyWaiting,
  VirtualMachineImage: imageWaiting,
  VirtualMachineInstance: instanceWaiting,
  VirtualMachineRestore: copyWaiting,
  VirtualMachineTemplateVersion: templateVersionWaiting,
};

/** What keeps it may be told by a condition, too. */
function deletionOf(object: KubeObject): Waiting {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  const since = `is being deleted since ${deletionTimestamp}`;
  const text = finalizers.length > 0 ? `${since} and waits for ${finalizers.join(', ')}` : since;
  const told = houseWords(object);
  if (!told) return { reason: 'BeingDeleted', nature: 'transient', text };
  return { ...told, text: `${text}; ${told.text}` };
}

function claimWaiting(claim: KubeObject): Waiting | undefined {
  const phase = textAt(claim, 'status', 'phase');
  const [type, status] = phase === 'Bound' ? ['Resizing', 'True'] : ['Bound', 'False'];
  const condition = conditionOf(claim, type);
  if (textAt(condition, 'status') === status && textAt(condition, 'message') !== '')
    return told(condition, phase === 'Bound' ? 'is being expanded' : 'is not bound to a volume');
  if (phase === 'Bound') return undefined;
  if (phase === 'Lost')
    return fault('VolumeLost', 'has lost its volume', 'Restore the volume, or delete the claim.');
  const storageClass = textAt(claim, 'spec', 'storageClassName');
  return {
    reason: 'NotBound',
    nature: 'transient',
    text: `is not bound to a volume; ${storageClass === '' ? 'it names no storage class' : `its storage class is ${storageClass}`}`,
  };
}

/** The object of the storage itself: space that nothing accounts for stands on it. */
function driverWaiting({ metadata }: KubeObject): Waiting | undefined {
  const report = metadata.annotations?.['sheaf.dev/unowned-space'];
  if (report === undefined) return undefined;
  return fault(
    'UnownedSpace',
    `has space that belongs to no object: ${report}`,
    'Move the files away when nobody misses them.',
  );
}

function definitionWaiting(definition: KubeObject): Waiting | undefined {
  const names = conditionOf(definition, 'NamesAccepted');
  if (names && textAt(names, 'status') === 'False')
    return fault(
      'NamesNotAccepted',
      `is not served: ${textAt(names, 'message')}`,
      'Delete the definition that has the name, or give this one other names.',
    );
  const established = conditionOf(definition, 'Established');
  if (textAt(established, 'status') === 'True') return undefined;
  return {
    reason: 'NotEstablished',
    nature: 'transient',
    text: `is not served yet: ${textAt(established, 'message') || 'no condition says why'}`,
  };
}

function jobWaiting(job: KubeObject): Waiting | undefined {
  const failed = conditionOf(job, 'Failed');
  if (textAt(failed, 'status') === 'True')
    return fault(
      textAt(failed, 'reason'),
      `has failed: ${textAt(failed, 'message')}`,
      'Look at its pods, then delete and create it anew.',
    );
  if (textAt(conditionOf(job, 'Complete'), 'status') === 'True') return undefined;
  const failures = at(job, 'status', 'failed');
  const tries = typeof failures === 'number' && failures > 0 ? `; ${failures} of its pods have failed` : '';
  const text = at(job, 'spec', 'suspend') === true ? 'is told to rest' : `is not complete${tries}`;
  return { reason: 'NotComplete', nature: 'transient', text };
}

/** A setting without a value waits for nobody. */
function settingWaiting(setting: KubeObject): Waiting | undefined {
  const configured = conditionOf(setting, 'configured');
  const [reason, message] = [textAt(configured, 'reason'), textAt(configured, 'message')];
  if (textAt(configured, 'status') !== 'False' || reason === '') return undefined;
  if (reason === 'KeptForCompatibility')
    return fault(reason, `has no effect: ${message}`, 'Nothing is wrong; clear the value if it misleads.');
  return fault(reason, `is not in force: ${message}`, 'Correct the value, or what it depends on.');
}

function keyPairWaiting(keyPair: KubeObject): Waiting | undefined {
  const validated = conditionOf(keyPair, 'validated');
  if (textAt(validated, 'status') !== 'False') return undefined;
  return fault('NoPublicKey', textAt(validated, 'message'), 'Correct spec.publicKey.');
}

function templateVersionWaiting(version: KubeObject): Waiting | undefined {
  const ready = conditionOf(version, 'ready');
  if (textAt(ready, 'status') !== 'False') return undefined;
  return { reason: textAt(ready, 'reason'), nature: 'transient', text: textAt(ready, 'message') };
}

function nodeWaiting(node: KubeObject): Waiting | undefined {
  return unmet(node) ?? inMaintenance(node) ?? impaired(node) ?? closed(node);
}

function inMaintenance(node: KubeObject): Waiting | undefined {
  const condition = conditionOf(node, 'MaintenanceMode');
  if (!condition) return undefined;
  const name = node.metadata.name ?? '';
  if (textAt(condition, 'status') === 'False')
    return {
      reason: textAt(condition, 'reason'),
      nature: 'transient',
      text: `goes into maintenance: ${textAt(condition, 'message')}`,
    };
  return fault(
    'Maintenance',
    'is in maintenance, so no machine starts on it',
    `POST /v1/harvester/nodes/${name}?action=disableMaintenanceMode, or sheaf shutdown --cancel.`,
  );
}

function impaired(node: KubeObject): Waiting | undefined {
  const abilities = ['MachinesRunnable', 'ContainersRunnable'];
  const type = [...abilities, 'MemoryPressure', 'DiskPressure', 'PIDPressure'].find((each) => {
    const wanted = abilities.includes(each) ? 'True' : 'False';
    const condition = conditionOf(node, each);
    const status = textAt(condition, 'status');
    return status !== '' && status !== wanted && textAt(condition, 'reason') !== 'ContainersUnwanted';
  });
  if (type === undefined) return undefined;
  const condition = conditionOf(node, type);
  const message = textAt(condition, 'message');
  return {
    reason: textAt(condition, 'reason'),
    nature: 'transient',
    text: `${type} is ${textAt(condition, 'status')}: ${message}`,
  };
}

function closed(node: KubeObject): Waiting | undefined {
  if (at(node, 'spec', 'unschedulable') !== true) return undefined;
  return fault(
    'Cordoned',
    'is cordoned, so no machine starts on it',
    `kubectl uncordon ${node.metadata.name ?? ''}`,
  );
}

/** Kinds that tell which generation a controller has seen. */
function unseen(object: KubeObject): Waiting | undefined {
  const generation = object.metadata.generation ?? 0;
  const observed = at(object, 'status', 'observedGeneration');
  const isSeen = typeof observed !== 'number' ? !workloads.has(object.kind ?? '') : observed >= generation;
  if (isSeen) return undefined;
  return {
    reason: 'NotObserved',
    nature: 'transient',
    text: `no controller has looked at generation ${generation} of it${typeof observed === 'number' ? ` (the newest seen is ${observed})` : ''}`,
  };
}

const workloads = new Set(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'ReplicationController']);
const goals = ['Ready', 'Available', 'Established', 'Synced', 'Progressing'];

function unmet(object: KubeObject): Waiting | undefined {
  for (const type of goals) {
    const condition = conditionOf(object, type);
    if (!condition || textAt(condition, 'status') === 'True') continue;
    const words = [textAt(condition, 'reason'), textAt(condition, 'message')].filter((text) => text !== '');
    const known = textAt(condition, 'status') === 'Unknown' ? 'it is not known whether it is' : 'is not';
    return {
      reason: textAt(condition, 'reason') || `Not${type}`,
      nature: 'transient',
      text: `${known} ${type}${words.length > 0 ? `: ${words.join(': ')}` : ''}`,
    };
  }
  return undefined;
}

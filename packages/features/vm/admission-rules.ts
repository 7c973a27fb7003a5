import {
  type AdmissionContext,
  type AdmissionFunction,
  type AdmissionMutation,
  type AdmissionObjects,
  type AdmissionRule,
  type AdmissionVerdict,
  allow,
  asJson,
  type KubeObject,
  refuse,
  replaceWith,
} from '@sheaf/api';
import {
  maxHotplugRatio,
  memoryOverheadRatio,
  overcommitConfig,
  readSetting,
  type SettingFormat,
  terminationGracePeriod,
} from '@sheaf/api/setting/index';
import { isJsonObject, type JsonValue, jsonEqual, QuantitySyntaxError } from '@sheaf/base';
import { type Verdict, validateInstance, validateMachine } from './admission.ts';
import { typeReads, validateExpanded, withTypes } from './instance-types/type-admission.ts';
import { completeInstance, completeMachine, type MachineDefaults } from './mutation.ts';
import type { VirtualMachine, VirtualMachineInstance } from './virtual-machine.ts';

const group = 'kubevirt.io';
const machines = { group, resource: 'virtualmachines' };
const instances = { group, resource: 'virtualmachineinstances' };
const settings = { group: 'harvesterhci.io', resource: 'settings' };

/** What is added to virtual machines and their instances when they are written, and what is refused. */
export function admissionRules(): readonly AdmissionRule[] {
  return [
    {
      name: 'virtual-machine',
      targets: [machines],
      operations: ['CREATE', 'UPDATE'],
      reads: [machines, settings, ...typeReads],
      mutate: whereChanged<AdmissionMutation>((object, old, context) => {
        const newMac = (): string => macFrom(context.random.bytes(5));
        const typed = withTypes(object as VirtualMachine, context);
        if (typed.refusal) return refuse(typed.refusal);
        return mutated(() =>
          completeMachine(typed.machine, old as VirtualMachine | undefined, {
            ...machineDefaults(context.objects),
            newMac,
          }),
        );
      }),
      validate: whereChanged<AdmissionVerdict>((object, _, context) => {
        const others = context.objects.list(machines) as readonly VirtualMachine[];
        return decided(
          validateExpanded(object as VirtualMachine, context.objects, (machine) =>
            validateMachine(machine, others),
          ),
        );
      }),
    },
    {
      name: 'virtual-machine-instance',
      targets: [instances],
      operations: ['CREATE'],
      mutate: whereChanged<AdmissionMutation>((object) =>
        mutated(() => completeInstance(object as VirtualMachineInstance)),
      ),
      validate: whereChanged<AdmissionVerdict>((object) =>
        decided(validateInstance(object as VirtualMachineInstance)),
      ),
    },
  ];
}

/**
 * What is being deleted, and what keeps its spec, is let through: an object that was let in under older rules must not be held
 * back by them when its finalizers go.
 */
function whereChanged<Decision extends AdmissionMutation | AdmissionVerdict>(
  decide: (object: KubeObject, old: KubeObject | undefined, context: AdmissionContext) => Decision,
): AdmissionFunction<Decision | ReturnType<typeof allow>> {
  return (object, old, context) => {
    if (!object || object.metadata.deletionTimestamp !== undefined || !isReadable(object)) return allow();
    return old && jsonEqual(specOf(object), specOf(old)) ? allow() : decide(object, old, context);
  };
}

/** The settings that decide about new machines, as they are now. */
function machineDefaults(objects: AdmissionObjects): Omit<MachineDefaults, 'newMac'> {
  const read = <T>(format: SettingFormat<T>): T =>
    readSetting(format, objects.find(settings, { name: format.name }));
  const { cpu, memory } = read(overcommitConfig);
  return {
    overcommit: { cpu, memory },
    terminationGracePeriodSeconds: read(terminationGracePeriod),
    hasMemoryOverheadRatio: read(memoryOverheadRatio) > 0,
    maxHotplugRatio: read(maxHotplugRatio),
  };
}

function specOf(object: KubeObject): JsonValue | undefined {
  return asJson(object)['spec'];
}

/** Before the schema has been looked at an object may hold anything; what cannot be read is refused by the schema. */
function isReadable(object: KubeObject): boolean {
  const spec = specOf(object);
  if (!isJsonObject(spec)) return false;
  const template = spec['template'];
  const inner = template === undefined ? spec : isJsonObject(template) ? template['spec'] : undefined;
  const domain = isJsonObject(inner) ? inner['domain'] : undefined;
  const devices = isJsonObject(domain) ? domain['devices'] : undefined;
  if (!isJsonObject(inner) || !isJsonObject(domain) || !isJsonObject(devices)) return false;
  const lists = [inner['volumes'], inner['networks'], devices['disks'], devices['interfaces']];
  const parts = [domain['cpu'], domain['memory'], domain['resources'], domain['machine']];
  return lists.every(isListOfObjects) && parts.every((part) => part === undefined || isJsonObject(part));
}

function isListOfObjects(value: JsonValue | undefined): boolean {
  return value === undefined || (Array.isArray(value) && value.every((item) => isJsonObject(item)));
}

/** An amount that is none is left for the validation, which names its field. */
function mutated(complete: () => KubeObject): AdmissionMutation {
  try {
    return replaceWith(complete());
  } catch (error) {
    if (error instanceof QuantitySyntaxError) return allow();
    throw error;
  }
}

function decided({ refusal, warnings }: Verdict): AdmissionVerdict {
  return refusal ? refuse(refusal) : allow(...warnings);
}

/** Locally administered, for one card. */
function macFrom(bytes: Uint8Array): string {
  return [0x02, ...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join(':');
}

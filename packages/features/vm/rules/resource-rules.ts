import { dns1123LabelErrors } from '@sheaf/api';
import {
  compareQuantities,
  parseQuantity,
  type Quantity,
  QuantitySyntaxError,
  quantitySign,
  type StatusCause,
} from '@sheaf/base';
import type { DomainSpec, InstanceSpec, QuantityText } from '../instance-spec.ts';
import { cause, each, listed } from './cause.ts';

const serialPattern = /^[A-Za-z0-9_.+-]+$/;
const maxTextLength = 256;
const machineTypes = [/^(pc-)?q35(-.+)?$/, /^pc(-i440fx-.+)?$/, /^microvm$/];
const featurePolicies = ['force', 'require', 'optional', 'disable', 'forbid', ''];

/** What is wrong with processors, memory, firmware and the rest of a machine that is no disk and no network. */
export function resourceCauses(spec: InstanceSpec, path: string): readonly StatusCause[] {
  const { domain } = spec;
  return [
    ...amountCauses(domain, `${path}.domain`),
    ...memoryCauses(domain, `${path}.domain`),
    ...cpuCauses(domain, `${path}.domain`),
    ...firmwareCauses(domain, `${path}.domain`),
    ...graceCauses(spec, path),
    ...namingCauses(spec, path),
    ...startCauses(spec, path),
    ...inputCauses(domain, `${path}.domain.devices.inputs`),
  ];
}

interface Amount {
  readonly field: string;
  readonly text: QuantityText | undefined;
}

/** Every quantity of a domain, by what it is for. */
function amountsOf({ memory, resources }: DomainSpec, path: string): Readonly<Record<AmountName, Amount>> {
  const { requests = {}, limits = {} } = resources ?? {};
  return {
    guest: { field: `${path}.memory.guest`, text: memory?.guest },
    maxGuest: { field: `${path}.memory.maxGuest`, text: memory?.maxGuest },
    memoryRequest: { field: `${path}.resources.requests.memory`, text: requests['memory'] },
    cpuRequest: { field: `${path}.resources.requests.cpu`, text: requests['cpu'] },
    memoryLimit: { field: `${path}.resources.limits.memory`, text: limits['memory'] },
    cpuLimit: { field: `${path}.resources.limits.cpu`, text: limits['cpu'] },
  };
}

type AmountName = 'guest' | 'maxGuest' | 'memoryRequest' | 'cpuRequest' | 'memoryLimit' | 'cpuLimit';

function amountCauses(domain: DomainSpec, path: string): readonly StatusCause[] {
  return Object.values(amountsOf(domain, path)).flatMap(({ field, text }) => {
    if (text === undefined) return [];
    const amount = readAmount(text);
    if (!amount)
      return [
        cause(field, `${field} '${text}': is no quantity`, { wayOut: 'write a number such as 2 or 4Gi' }),
      ];
    if (quantitySign(amount) >= 0) return [];
    return [
      cause(field, `${field} '${text}': must be greater than or equal to 0.`, {
        wayOut: 'leave out the sign',
      }),
    ];
  });
}

function readAmount(text: QuantityText | undefined): Quantity | undefined {
  if (text === undefined) return undefined;
  try {
    return parseQuantity(String(text));
  } catch (error) {
    if (error instanceof QuantitySyntaxError) return undefined;
    throw error;
  }
}

function memoryCauses(domain: DomainSpec, path: string): readonly StatusCause[] {
  const { guest, maxGuest, memoryRequest, memoryLimit, cpuRequest, cpuLimit } = amountsOf(domain, path);
  if ([guest, memoryRequest, memoryLimit].every(({ text }) => isNothing(text)))
    return [
      cause(
        path,
        `no memory requested, at least one of '${path}.memory.guest', '${path}.memory.hugepages.size' or '${path}.resources.requests.memory' must be set`,
        { wayOut: `set ${path}.memory.guest`, reason: 'FieldValueRequired' },
      ),
    ];
  return [
    ...orderCauses(guest, memoryLimit, 'must be equal to or less than the memory limit'),
    ...orderCauses(guest, maxGuest, 'is greater than the configured maxGuest memory'),
    ...orderCauses(cpuRequest, cpuLimit, 'is greater than'),
  ];
}

function isNothing(text: QuantityText | undefined): boolean {
  const amount = readAmount(text);
  return text === undefined || (amount !== undefined && quantitySign(amount) === 0);
}

function orderCauses(less: Amount, more: Amount, words: string): readonly StatusCause[] {
  const [a, b] = [readAmount(less.text), readAmount(more.text)];
  if (!a || !b || quantitySign(b) === 0 || compareQuantities(a, b) <= 0) return [];
  const text = `${less.field} '${less.text}' ${words} ${more.field} '${more.text}'`;
  return [cause(less.field, text, { wayOut: 'lower the one or raise the other' })];
}

function cpuCauses({ cpu = {} }: DomainSpec, path: string): readonly StatusCause[] {
  const { sockets = 0, maxSockets = 0, features } = cpu;
  const counts = (['sockets', 'cores', 'threads', 'maxSockets'] as const).flatMap((name) => {
    const count = cpu[name];
    if (count === undefined || (Number.isInteger(count) && count >= 0)) return [];
    const field = `${path}.cpu.${name}`;
    return [cause(field, `${field} must be a whole number`, { wayOut: 'use 1 or more' })];
  });
  const policies = each(features, `${path}.cpu.features`, ({ policy = '' }, field) => {
    if (featurePolicies.includes(policy)) return [];
    const text = `CPU feature ${field} uses policy ${policy} that is not supported.`;
    return [cause(`${field}.policy`, text, { wayOut: 'use require', reason: 'FieldValueNotSupported' })];
  });
  if (maxSockets === 0 || sockets <= maxSockets) return [...counts, ...policies];
  const text = 'Number of sockets in CPU topology is greater than the maximum sockets allowed';
  return [...counts, ...policies, cause(`${path}.cpu.sockets`, text, { wayOut: 'raise maxSockets' })];
}

function firmwareCauses(domain: DomainSpec, path: string): readonly StatusCause[] {
  return [
    ...serialCauses(domain.firmware?.serial ?? '', `${path}.firmware.serial`),
    ...secureBootCauses(domain, path),
    ...machineTypeCauses(domain.machine?.type ?? '', `${path}.machine.type`),
  ];
}

function serialCauses(serial: string, field: string): readonly StatusCause[] {
  if (serial.length > maxTextLength) {
    const text = `${field} must be less than or equal to ${maxTextLength} in length, if specified`;
    return [cause(field, text, { wayOut: 'shorten it' })];
  }
  if (serial === '' || serialPattern.test(serial)) return [];
  const text = `${field} must be made up of the following characters [A-Za-z0-9_.+-], if specified`;
  return [cause(field, text, { wayOut: 'leave out the others' })];
}

function secureBootCauses({ firmware, features }: DomainSpec, path: string): readonly StatusCause[] {
  const efi = firmware?.bootloader?.efi;
  const isSecure = efi !== undefined && efi.secureBoot !== false;
  const hasSmm = features?.smm !== undefined && features.smm.enabled !== false;
  if (!isSecure || hasSmm) return [];
  const text = `${path} has EFI SecureBoot enabled. SecureBoot requires SMM, which is currently disabled.`;
  const wayOut = `set ${path}.features.smm.enabled, or bootloader.efi.secureBoot to false`;
  return [cause(path, text, { wayOut })];
}

function machineTypeCauses(type: string, field: string): readonly StatusCause[] {
  if (type === '' || machineTypes.some((pattern) => pattern.test(type))) return [];
  const text = `${field} is not supported: ${type} (allowed values: ${listed(['q35*', 'pc-q35*', 'pc', 'microvm'])})`;
  return [cause(field, text, { wayOut: 'use q35' })];
}

function graceCauses(
  { terminationGracePeriodSeconds: seconds }: InstanceSpec,
  path: string,
): readonly StatusCause[] {
  if (seconds === undefined || seconds >= 0) return [];
  const field = `${path}.terminationGracePeriodSeconds`;
  return [cause(field, `${field} must not be negative: ${seconds}`, { wayOut: 'use 0 to end it at once' })];
}

function namingCauses({ hostname = '' }: InstanceSpec, path: string): readonly StatusCause[] {
  if (hostname === '') return [];
  const field = `${path}.hostname`;
  return dns1123LabelErrors(hostname).map((text) =>
    cause(field, `${field} does not conform to the kubernetes DNS_LABEL rules : ${text}`, {
      wayOut: 'choose another name',
    }),
  );
}

function startCauses({ startStrategy, livenessProbe }: InstanceSpec, path: string): readonly StatusCause[] {
  if (startStrategy === undefined) return [];
  const field = `${path}.startStrategy`;
  if (startStrategy !== 'Paused')
    return [
      cause(field, `${field} is set with an unrecognized option: ${startStrategy as string}`, {
        wayOut: 'use Paused, or remove it',
      }),
    ];
  if (livenessProbe === undefined) return [];
  const text = `either ${field} or ${path}.livenessProbe should be provided.Pausing VMI with LivenessProbe is not supported`;
  return [cause(field, text, { wayOut: 'remove one of them' })];
}

function inputCauses({ devices }: DomainSpec, field: string): readonly StatusCause[] {
  return each(devices.inputs, field, ({ type, bus = '' }, place) => {
    const causes: StatusCause[] = [];
    if (!['virtio', 'usb', ''].includes(bus))
      causes.push(
        cause(`${place}.bus`, 'Input device can have only virtio or usb bus.', { wayOut: 'use one of them' }),
      );
    if (type !== 'tablet')
      causes.push(
        cause(`${place}.type`, 'Input device can have only tablet type.', { wayOut: 'use tablet' }),
      );
    return causes;
  });
}

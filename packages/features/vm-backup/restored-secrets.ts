import type { KubeObject, Waiting } from '@sheaf/api';
import type {
  SecretBackup,
  VirtualMachine,
  VirtualMachineBackup,
  VirtualMachineRestore,
} from '@sheaf/api/virtualization/index';
import { type JsonObject, jsonEqual } from '@sheaf/base';
import { ownerReferenceTo } from './machine-owner.ts';
import { restoredSecretName, secretNamesOf } from './secret-references.ts';

export interface SecretFacts {
  readonly restore: VirtualMachineRestore;
  /** The machine that they belong to, once it is there. */
  readonly target: VirtualMachine | undefined;
  /** All that a restore may touch, as the server has them. */
  readonly secrets: ReadonlyMap<string, KubeObject>;
}

export type SecretStep =
  | { readonly action: 'create-secret'; readonly secret: KubeObject }
  | { readonly action: 'update-secret'; readonly secret: KubeObject };

export interface SecretsPlan {
  readonly steps: readonly SecretStep[];
  readonly waiting: Waiting | undefined;
  /** The Secret that stands for one of the snapshot. */
  readonly nameOf: (original: string) => string;
}

/** Every Secret that a restore may read or write. */
export function secretsAround(
  { spec }: VirtualMachineRestore,
  backup: VirtualMachineBackup,
): readonly string[] {
  const kept = backup.status?.secretBackups ?? [];
  return kept.flatMap(({ name }) => [name, restoredSecretName(spec.target.name, name)]);
}

/**
 * What becomes of the Secrets of a snapshot. A new machine gets copies. A machine that is there gets its own back as they were; where
 * the name has gone to something else since, that is left alone, and the machine gets a copy.
 */
export function planSecrets(facts: SecretFacts, kept: readonly SecretBackup[]): SecretsPlan {
  const places = new Map(kept.map((secret) => [secret.name, placeOf(facts, secret)]));
  const each = facts.target
    ? kept.map((secret) => writeOf(facts, secret, places.get(secret.name) ?? ''))
    : [];
  return {
    steps: each.flatMap((write) => (write && 'action' in write ? [write] : [])),
    waiting: each.flatMap((write) => (write && 'reason' in write ? [write] : []))[0],
    nameOf: (original) => places.get(original) ?? original,
  };
}

function placeOf({ restore, target, secrets }: SecretFacts, secret: SecretBackup): string {
  const copy = restoredSecretName(restore.spec.target.name, secret.name);
  if (restore.spec.newVM === true) return copy;
  const found = secrets.get(secret.name);
  if (!found || hasData(found, secret)) return secret.name;
  const isUsed = secretNamesOf(target?.spec.template.spec).includes(secret.name);
  return isUsed && found['immutable'] !== true ? secret.name : copy;
}

function writeOf(
  { target, secrets, restore }: SecretFacts,
  kept: SecretBackup,
  name: string,
): SecretStep | Waiting | undefined {
  if (!target) return undefined;
  const found = secrets.get(name);
  if (found && hasData(found, kept)) return undefined;
  const data = (kept.data ?? {}) as JsonObject;
  if (!found) return { action: 'create-secret', secret: newSecret(target, name, data) };
  const { uid } = target.metadata;
  const isOfTarget = found.metadata.ownerReferences?.some((owner) => owner.uid === uid) === true;
  if (isOfTarget || name === kept.name) return { action: 'update-secret', secret: { ...found, data } };
  return {
    reason: 'SecretTaken',
    text: 'A Secret of the name that it needs belongs to something else',
    nature: 'fault',
    wayOut: 'delete that Secret, or rename it; the restore goes on by itself',
    object: { kind: 'Secret', namespace: restore.metadata.namespace ?? '', name },
  };
}

function hasData(secret: KubeObject, { data = {} }: SecretBackup): boolean {
  return jsonEqual((secret['data'] ?? {}) as JsonObject, data);
}

function newSecret(machine: VirtualMachine, name: string, data: JsonObject): KubeObject {
  const { namespace = '' } = machine.metadata;
  return { metadata: { namespace, name, ownerReferences: [ownerReferenceTo(machine)] }, data };
}

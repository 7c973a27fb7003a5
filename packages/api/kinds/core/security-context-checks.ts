import type { JsonObject, JsonValue } from '@sheaf/base';
import { invalid, notSupported, required } from '../../meta/field-error.ts';
import type { Errors } from '../checks.ts';
import { fieldsAt, isTrueAt, listAt, objectAt, textAt, textsAt } from '../fields.ts';

const maxId = 2147483647;

function checkId(errors: Errors, field: string, id: JsonValue | undefined): void {
  if (typeof id === 'number' && (id < 0 || id > maxId))
    errors.push(invalid(field, id, `must be between 0 and ${maxId}, inclusive`));
}

const sysctl = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/;
const sysctlDetail =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$';

export function checkPodSecurity(errors: Errors, field: string, spec: JsonObject): void {
  const context = fieldsAt(spec, 'securityContext');
  for (const name of ['fsGroup', 'runAsUser', 'runAsGroup'])
    checkId(errors, `${field}.${name}`, context[name]);
  const groups = context['supplementalGroups'];
  if (Array.isArray(groups))
    for (const [index, id] of groups.entries()) checkId(errors, `${field}.supplementalGroups[${index}]`, id);
  if (isTrueAt(spec, 'shareProcessNamespace') && isTrueAt(spec, 'hostPID'))
    errors.push(
      invalid(
        `${field}.shareProcessNamespace`,
        true,
        'ShareProcessNamespace and HostPID cannot both be enabled',
      ),
    );
  checkSysctls(errors, `${field}.sysctls`, listAt(context, 'sysctls'));
  checkChoice(errors, `${field}.fsGroupChangePolicy`, [
    context['fsGroupChangePolicy'],
    ['Always', 'OnRootMismatch'],
  ]);
  checkProfiles(errors, field, context);
  checkChoice(errors, `${field}.supplementalGroupsPolicy`, [
    context['supplementalGroupsPolicy'],
    ['Merge', 'Strict'],
  ]);
}

function checkChoice(
  errors: Errors,
  field: string,
  [value, allowed]: readonly [JsonValue | undefined, readonly string[]],
): void {
  if (typeof value === 'string' && !allowed.includes(value)) errors.push(notSupported(field, value, allowed));
}

function checkSysctls(errors: Errors, field: string, list: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const [index, item] of list.entries()) {
    const name = textAt(item, 'name');
    if (name === '') errors.push(required(`${field}[${index}].name`));
    else if (name.length > 253 || !sysctl.test(name))
      errors.push(invalid(`${field}[${index}].name`, name, sysctlDetail));
    else if (seen.has(name))
      errors.push({
        type: 'FieldValueDuplicate',
        field: `${field}[${index}].name`,
        message: `Duplicate value: ${JSON.stringify(name)}`,
      });
    seen.add(name);
  }
}

function checkProfiles(errors: Errors, field: string, context: JsonObject): void {
  checkProfile(errors, `${field}.seccompProfile`, [objectAt(context, 'seccompProfile'), 'seccomp']);
  checkProfile(errors, `${field}.appArmorProfile`, [objectAt(context, 'appArmorProfile'), 'AppArmor']);
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkProfile(
  errors: Errors,
  field: string,
  [profile, what]: readonly [JsonObject | undefined, string],
): void {
  if (profile === undefined) return;
  const type = textAt(profile, 'type');
  if (type === '') errors.push(required(`${field}.type`, 'type is required when seccompProfile is set'));
  else if (!profileTypes.includes(type)) errors.push(notSupported(`${field}.type`, type, profileTypes));
  if (type === 'Localhost') {
    if (profile['localhostProfile'] === undefined)
      errors.push(required(`${field}.localhostProfile`, `must be set when ${what} type is Localhost`));
  } else if (profile['localhostProfile'] !== undefined) {
    errors.push(
      invalid(`${field}.localhostProfile`, profile, `can only be set when ${what} type is Localhost`),
    );
  }
}

const internalNames = [
  'capabilities',
  'privileged',
  'seLinuxOptions',
  'windowsOptions',
  'runAsUser',
  'runAsGroup',
  'runAsNonRoot',
  'readOnlyRootFilesystem',
  'allowPrivilegeEscalation',
  'procMount',
  'seccompProfile',
  'appArmorProfile',
];

/** The context as messages show it: all fields, capitalized. */
function shown(context: JsonObject): JsonObject {
  const form: JsonObject = {};
  for (const name of internalNames) {
    const title =
      name === 'seLinuxOptions' ? 'SELinuxOptions' : (name[0] ?? '').toUpperCase() + name.slice(1);
    form[title] = context[name] ?? null;
  }
  const capabilities = objectAt(context, 'capabilities');
  if (capabilities !== undefined)
    form['Capabilities'] = { Add: capabilities['add'] ?? null, Drop: capabilities['drop'] ?? null };
  return form;
}

export function checkContainerSecurity(errors: Errors, field: string, context: JsonObject | undefined): void {
  if (context === undefined) return;
  checkId(errors, `${field}.runAsUser`, context['runAsUser']);
  checkId(errors, `${field}.runAsGroup`, context['runAsGroup']);
  checkChoice(errors, `${field}.procMount`, [context['procMount'], ['Default', 'Unmasked']]);
  checkProfile(errors, `${field}.seccompProfile`, [objectAt(context, 'seccompProfile'), 'seccomp']);
  if (context['allowPrivilegeEscalation'] === false) checkEscalation(errors, field, context);
  checkProfile(errors, `${field}.appArmorProfile`, [objectAt(context, 'appArmorProfile'), 'AppArmor']);
}

function checkEscalation(errors: Errors, field: string, context: JsonObject): void {
  const refusal = 'cannot set `allowPrivilegeEscalation` to false and ';
  if (isTrueAt(context, 'privileged'))
    errors.push(invalid(field, shown(context), `${refusal}\`privileged\` to true`));
  if (textsAt(fieldsAt(context, 'capabilities'), 'add').includes('CAP_SYS_ADMIN'))
    errors.push(invalid(field, shown(context), `${refusal}\`capabilities.Add\` CAP_SYS_ADMIN`));
}

import type { JsonObject } from '@sheaf/base';
import { objectAt, objectsAt, textAt, textsAt } from './object-field.ts';
import { checkAddedCapabilities, checkSeccomp, seccompOf } from './pod-security-baseline.ts';
import {
  containersOf,
  containersText,
  contextOf,
  hasOwnUsers,
  isWindows,
  plural,
  quoted,
  type SecuritySubject,
  settersText,
  sorted,
  type Violation,
} from './pod-security-subject.ts';

export function checkEscalation(subject: SecuritySubject): Violation | undefined {
  if (subject.minor < 8 || isWindows(subject)) return undefined;
  const bad = containersOf(subject.spec).filter(
    (container) => contextOf(container)['allowPrivilegeEscalation'] !== false,
  );
  if (bad.length === 0) return undefined;
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  };
}

/** Before policy 1.22 what is usual was enough. */
export function checkCapabilities(subject: SecuritySubject): Violation | undefined {
  if (subject.minor < 22) return checkAddedCapabilities(subject);
  if (isWindows(subject)) return undefined;
  const capabilitiesOf = (container: JsonObject): JsonObject =>
    objectAt(contextOf(container), 'capabilities');
  const addedBy = (container: JsonObject): string[] =>
    textsAt(capabilitiesOf(container), 'add').filter((name) => name !== 'NET_BIND_SERVICE');
  const containers = containersOf(subject.spec);
  const keeping = containers.filter(
    (container) => !textsAt(capabilitiesOf(container), 'drop').includes('ALL'),
  );
  const adding = containers.filter((container) => addedBy(container).length > 0);
  const details: string[] = [];
  if (keeping.length > 0)
    details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`);
  if (adding.length > 0) {
    details.push(
      `${containersText(adding)} must not include ${quoted(sorted(adding.flatMap(addedBy)))} in securityContext.capabilities.add`,
    );
  }
  return details.length === 0
    ? undefined
    : { reason: 'unrestricted capabilities', detail: details.join('; ') };
}

const allowedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

export function checkVolumes({ spec }: SecuritySubject): Violation | undefined {
  const bad = objectsAt(spec, 'volumes').filter((volume) =>
    allowedVolumes.every((type) => volume[type] === undefined),
  );
  if (bad.length === 0) return undefined;
  const types = sorted(bad.map((volume) => Object.keys(volume).find((key) => key !== 'name') ?? 'unknown'));
  const names = quoted(bad.map((volume) => textAt(volume, 'name')));
  return {
    reason: 'restricted volume types',
    detail: `${plural('volume', 'volumes', bad.length)} ${names} ${plural('uses', 'use', bad.length)} ${plural('restricted volume type', 'restricted volume types', types.length)} ${quoted(types)}`,
  };
}

export function checkNonRoot(subject: SecuritySubject): Violation | undefined {
  if (hasOwnUsers(subject)) return undefined;
  const { spec } = subject;
  const reason = 'runAsNonRoot != true';
  const said = (owner: JsonObject): unknown => contextOf(owner)['runAsNonRoot'];
  const containers = containersOf(spec);
  const setters = settersText(
    said(spec) === false,
    containers.filter((container) => said(container) === false),
  );
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` };
  const silent = said(spec) === true ? [] : containers.filter((container) => said(container) === undefined);
  if (silent.length === 0) return undefined;
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` };
}

export function checkUser(subject: SecuritySubject): Violation | undefined {
  if (subject.minor < 23 || hasOwnUsers(subject)) return undefined;
  const isRoot = (owner: JsonObject): boolean => contextOf(owner)['runAsUser'] === 0;
  const setters = settersText(isRoot(subject.spec), containersOf(subject.spec).filter(isRoot));
  return setters === ''
    ? undefined
    : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` };
}

export function checkRequiredSeccomp(subject: SecuritySubject): Violation | undefined {
  const forbidden = checkSeccomp(subject);
  if (subject.minor < 19) return forbidden;
  if (isWindows(subject)) return undefined;
  if (forbidden) return forbidden;
  const { spec } = subject;
  const silent =
    seccompOf(spec) === undefined
      ? containersOf(spec).filter((container) => seccompOf(container) === undefined)
      : [];
  if (silent.length === 0) return undefined;
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  };
}

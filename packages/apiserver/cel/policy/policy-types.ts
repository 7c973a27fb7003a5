import {
  boolType,
  type CelType,
  dynType,
  intType,
  listOf,
  mapOf,
  objectType,
  stringType,
  timestampType,
} from '../checker/type.ts';

function record(name: string, fields: Readonly<Record<string, CelType>>): CelType {
  return objectType(name, new Map(Object.entries(fields)));
}

const texts = listOf(stringType);
const textMap = mapOf(stringType, stringType);

const kindType = record('kubernetes.GroupVersionKind', {
  group: stringType,
  version: stringType,
  kind: stringType,
});
const resourceType = record('kubernetes.GroupVersionResource', {
  group: stringType,
  version: stringType,
  resource: stringType,
});

const userInfoType = record('kubernetes.UserInfo', {
  username: stringType,
  uid: stringType,
  groups: texts,
  extra: mapOf(stringType, texts),
});

/** The variable `request`. */
export const requestType = record('kubernetes.AdmissionRequest', {
  kind: kindType,
  resource: resourceType,
  subResource: stringType,
  requestKind: kindType,
  requestResource: resourceType,
  requestSubResource: stringType,
  name: stringType,
  namespace: stringType,
  operation: stringType,
  userInfo: userInfoType,
  dryRun: boolType,
  options: dynType,
});

const namespaceMetadataType = record('kubernetes.NamespaceMetadata', {
  name: stringType,
  generateName: stringType,
  namespace: stringType,
  labels: textMap,
  annotations: textMap,
  UID: stringType,
  creationTimestamp: timestampType,
  deletionGracePeriodSeconds: intType,
  deletionTimestamp: timestampType,
  generation: intType,
  resourceVersion: stringType,
  finalizers: texts,
});

const conditionType = record('kubernetes.NamespaceCondition', {
  status: stringType,
  type: stringType,
  lastTransitionTime: timestampType,
  message: stringType,
  reason: stringType,
});

/** The variable `namespaceObject`: what of a namespace does not concern its inner workings. */
export const namespaceType = record('kubernetes.Namespace', {
  metadata: namespaceMetadataType,
  spec: record('kubernetes.NamespaceSpec', { finalizers: texts }),
  status: record('kubernetes.NamespaceStatus', { conditions: listOf(conditionType), phase: stringType }),
});

/** Fields of any name, each of any type. */
class AnyFields extends Map<string, CelType> {
  override get(): CelType {
    return dynType;
  }
}

/** The type of one operation of a JSON patch. */
export const jsonPatchType = record('JSONPatch', {
  op: stringType,
  path: stringType,
  from: stringType,
  value: dynType,
});

/** The type of an apply configuration. */
export const applyObjectType = objectType('Object', new AnyFields());

const nestedNames = /^Object(?:\.[A-Za-z_][A-Za-z0-9_]*)+$/;

/** The types that mutations may write: `Object`, `Object.spec`, …, and `JSONPatch`. */
export function mutationTypes(): (name: string) => CelType | undefined {
  const nested = new Map<string, CelType>([
    ['Object', applyObjectType],
    ['JSONPatch', jsonPatchType],
  ]);
  return (name) => {
    const known = nested.get(name);
    if (known || !nestedNames.test(name)) return known;
    const made = objectType(name, new AnyFields());
    nested.set(name, made);
    return made;
  };
}

import { type FieldError, type KubeObject, notSupported, required } from '@sheaf/api';
import { badRequest, isJsonObject, type JsonObject } from '@sheaf/base';
import { conflict } from '../verbs/errors.ts';

const bindings = { group: '', plural: 'pods/binding' };

export interface BindInput {
  readonly node: string;
  /** RFC 3339 in seconds. */
  readonly now: string;
  readonly annotations: Record<string, string> | undefined;
}

/** The node of a Binding. @throws StatusError 400 for a target that is no node, or none in particular */
export function boundNode(binding: KubeObject): string {
  const target = isJsonObject(binding['target']) ? binding['target'] : {};
  const { kind } = target;
  const name = typeof target['name'] === 'string' ? target['name'] : '';
  const errors: FieldError[] = [];
  if (kind && kind !== 'Node') errors.push(notSupported('target.kind', kind, ['Node', '<empty>']));
  if (name === '') errors.push(required('target.name'));
  const texts = errors.map(({ field, message }) => `${field}: ${message}`);
  if (texts.length > 0) throw badRequest(texts.length === 1 ? `${texts[0]}` : `[${texts.join(', ')}]`);
  return name;
}

/** Gives a pod its node, for good; changes the pod it is given. @throws StatusError 409 */
export function bindPod(pod: KubeObject, { node, now, annotations }: BindInput): KubeObject {
  const name = pod.metadata.name ?? '';
  if (pod.metadata.deletionTimestamp !== undefined)
    throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  const spec: JsonObject = isJsonObject(pod['spec']) ? pod['spec'] : {};
  if (spec['nodeName'])
    throw conflict(
      bindings,
      name,
      `pod ${name} is already assigned to node ${JSON.stringify(spec['nodeName'])}`,
    );
  spec['nodeName'] = node;
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations };
  // A place that was promised to it has been taken.
  const { nominatedNodeName: _, ...status } = isJsonObject(pod['status']) ? pod['status'] : {};
  const others = Array.isArray(status['conditions'])
    ? status['conditions'].filter((item) => isJsonObject(item) && item['type'] !== 'PodScheduled')
    : [];
  pod['status'] = {
    ...status,
    conditions: [
      ...others,
      { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now },
    ],
  };
  return pod;
}

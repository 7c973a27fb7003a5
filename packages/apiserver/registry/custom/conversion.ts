import { type KubeObject, toApiVersion } from '@sheaf/api';
import { internalError } from '@sheaf/base';
import type { Definition, DefinitionVersion } from '../../custom-resource/index.ts';
import type { VersionConversion } from './custom-strategy.ts';

/** Converts a batch of objects to an API version by the definition's webhook. @throws StatusError 500 */
export type WebhookConverter = (
  definition: Definition,
  objects: readonly KubeObject[],
  apiVersion: string,
) => Promise<readonly KubeObject[]>;

/** How one version of a definition is kept: with conversion None only the apiVersion differs. */
export function versionConversion(
  definition: Definition,
  version: DefinitionVersion,
  convert: WebhookConverter | undefined,
): VersionConversion {
  const storage = definition.versions.find((item) => item.storage);
  if (!storage) throw internalError(`${definition.name} has no storage version`);
  const own = toApiVersion(definition.group, version.name);
  const kept = toApiVersion(definition.group, storage.name);
  const isNone = definition.conversion.strategy !== 'Webhook';
  const to = async (objects: readonly KubeObject[], apiVersion: string): Promise<readonly KubeObject[]> => {
    if (!convert)
      throw internalError(`${definition.name} needs its conversion webhook, and none can be called here`);
    return convert(definition, objects, apiVersion);
  };
  if (isNone || own === kept) {
    return {
      isTrivial: true,
      toStorage: (object) => withVersion(object, kept),
      fromStorage: (objects) => objects.map((object) => withVersion(object, own)),
    };
  }
  return {
    isTrivial: false,
    toStorage: async (object) => (await to([object], kept))[0] ?? object,
    fromStorage: (objects) => to(objects, own),
  };
}

function withVersion(object: KubeObject, apiVersion: string): KubeObject {
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}

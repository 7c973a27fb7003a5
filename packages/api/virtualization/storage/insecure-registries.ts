import { isJsonObject, type JsonValue } from '@sheaf/base';

/** Whether CDIConfig `config` lists the registry of an image as one without TLS. `reference`: without a scheme. */
export function isInsecureRegistry(config: unknown, reference: string): boolean {
  const spec: JsonValue | undefined = isJsonObject(config) ? config['spec'] : undefined;
  const hosts = isJsonObject(spec) ? spec['insecureRegistries'] : undefined;
  return Array.isArray(hosts) && hosts.includes(reference.slice(0, Math.max(0, reference.indexOf('/'))));
}

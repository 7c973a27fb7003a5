import { isJsonObject, type JsonObject, type JsonValue } from '@sheaf/base';
import { claimTemplatesAnnotation } from '../rules/harvester-rules.ts';
import type { VirtualMachine } from '../virtual-machine.ts';

/** The claims that a machine brings along, as its annotation has them. What is no list has none. */
export function readTemplates({ metadata }: VirtualMachine): readonly JsonObject[] {
  const templates = parsed(metadata.annotations?.[claimTemplatesAnnotation] ?? '');
  return Array.isArray(templates) ? templates.filter((template) => isJsonObject(template)) : [];
}

export function templateName(template: JsonObject): string {
  const { metadata } = template;
  const name = isJsonObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' ? name : '';
}

export function withTemplates(machine: VirtualMachine, templates: readonly JsonObject[]): VirtualMachine {
  const annotations = {
    ...machine.metadata.annotations,
    [claimTemplatesAnnotation]: JSON.stringify(templates),
  };
  return { ...machine, metadata: { ...machine.metadata, annotations } };
}

export function withTemplate(machine: VirtualMachine, template: JsonObject): VirtualMachine {
  return withTemplates(machine, [...readTemplates(machine), template]);
}

/** The very same where no such claim is brought along. */
export function withoutTemplate(machine: VirtualMachine, claimName: string): VirtualMachine {
  const templates = readTemplates(machine);
  const rest = templates.filter((template) => templateName(template) !== claimName);
  return rest.length === templates.length ? machine : withTemplates(machine, rest);
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

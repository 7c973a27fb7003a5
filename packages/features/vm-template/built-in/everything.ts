import { resources } from '@sheaf/client';
import type { BuiltIn } from './built-in.ts';
import { machineTemplates } from './machine-templates.ts';
import { publicNamespace } from './public-namespace.ts';

const namespace = 'harvester-public';

/** In the order in which they must be made. */
export const builtIns: readonly BuiltIn[] = [
  ...publicNamespace(namespace),
  ...machineTemplates(namespace).flatMap(({ template, version, secret }) => [
    { resource: resources.virtualMachineTemplates, object: template },
    { resource: resources.virtualMachineTemplateVersions, object: version },
    ...(secret
      ? [
          {
            resource: resources.secrets,
            object: secret,
            owner: {
              resource: resources.virtualMachineTemplateVersions,
              namespace,
              name: version.metadata.name ?? '',
            },
          },
        ]
      : []),
  ]),
];

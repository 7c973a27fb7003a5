import type { ApiExtensions } from '@sheaf/api';
import { resources } from '@sheaf/client';
import type { Manager } from '@sheaf/runtime';
import { templateRule, versionRule } from './admission.ts';
import { imagesOf } from './plan.ts';
import { makeBuiltIns, reconcileTemplate } from './reconcile.ts';
import { parseReference, referenceTo } from './references.ts';

/** What templates and their versions may be; added while the server is put together. */
export function extend(api: ApiExtensions): void {
  api.addAdmission(templateRule);
  api.addAdmission(versionRule);
}

/** Numbers of versions; the templates that come with the release, made once at each start. */
export function register(manager: Manager): void {
  const { client, clock } = manager;
  const images = manager.informer(resources.virtualMachineImages);
  const versions = manager.informer(resources.virtualMachineTemplateVersions);
  const templates = manager.informer(resources.virtualMachineTemplates);
  const findImage = (reference: string) => {
    const found = parseReference(reference);
    return found && images.cache.get(referenceTo({ metadata: found }));
  };
  manager
    .controller({
      name: 'vm-template',
      reconcile: (key, signal) => reconcileTemplate({ client, clock, findImage }, key, signal),
    })
    .watch(templates)
    .watchMapped(versions, ({ spec }) => [spec.templateId])
    .watchMapped(images, (image) =>
      versions.cache
        .list()
        .filter((version) => imagesOf(version).includes(referenceTo(image)))
        .map(({ spec }) => spec.templateId),
    );
  const builtIn = manager.controller({
    name: 'vm-template-built-in',
    reconcile: (_, signal) => makeBuiltIns(client, signal),
  });
  builtIn.queue.add('all');
}

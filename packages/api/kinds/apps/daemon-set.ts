import { jsonEqual } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';
import { fieldsAt, specOf } from '../fields.ts';
import { defaultDaemonSet } from './workload-defaults.ts';

const annotation = 'deprecated.daemonset.template.generation';

function templateGeneration(daemonSet: KubeObject): number {
  const text = daemonSet.metadata.annotations?.[annotation] ?? '';
  return /^\d{1,15}$/.test(text) ? Number(text) : 0;
}

function annotate(daemonSet: KubeObject, generation: number): void {
  daemonSet.metadata.annotations = {
    ...daemonSet.metadata.annotations,
    [annotation]: String(generation),
  };
}

/** Older controllers count the changes of the template in an annotation. */
export function startTemplateGeneration(daemonSet: KubeObject): void {
  annotate(daemonSet, Math.max(1, templateGeneration(daemonSet)));
}

/** A given number stays; a changed template makes it grow. Compares templates with their defaults. */
export function countTemplateChange(next: KubeObject, old: KubeObject): void {
  defaultDaemonSet(next);
  const known = templateGeneration(old);
  const isSame = jsonEqual(fieldsAt(specOf(next), 'template'), fieldsAt(specOf(old), 'template'));
  annotate(next, isSame ? known : known + 1);
}

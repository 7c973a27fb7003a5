import type { JsonObject } from '@sheaf/base';
import { fieldsAt, fill, fillText, listAt, objectAt, textAt } from '../fields.ts';
import { defaultPullPolicy } from '../image-tag.ts';
import { roundRequirements } from '../resource-list.ts';

/** A container, init container or ephemeral container. */
export function defaultContainer(container: JsonObject): void {
  if (!container['imagePullPolicy'])
    container['imagePullPolicy'] = defaultPullPolicy(textAt(container, 'image'));
  fillText(container, 'terminationMessagePath', '/dev/termination-log');
  fillText(container, 'terminationMessagePolicy', 'File');
  for (const port of listAt(container, 'ports')) fillText(port, 'protocol', 'TCP');
  for (const variable of listAt(container, 'env')) defaultVariable(variable);
  roundRequirements(fieldsAt(container, 'resources'));
  defaultProbe(objectAt(container, 'livenessProbe'));
  defaultProbe(objectAt(container, 'readinessProbe'));
  defaultProbe(objectAt(container, 'startupProbe'));
  const lifecycle = objectAt(container, 'lifecycle');
  if (lifecycle === undefined) return;
  defaultHttpGet(fieldsAt(lifecycle, 'postStart'));
  defaultHttpGet(fieldsAt(lifecycle, 'preStop'));
}

function defaultVariable(variable: JsonObject): void {
  const source = objectAt(variable, 'valueFrom');
  if (source === undefined) return;
  const field = objectAt(source, 'fieldRef');
  if (field !== undefined) fillText(field, 'apiVersion', 'v1');
  const file = objectAt(source, 'fileKeyRef');
  if (file !== undefined) fill(file, 'optional', false);
}

function defaultProbe(probe: JsonObject | undefined): void {
  if (probe === undefined) return;
  if (!probe['timeoutSeconds']) probe['timeoutSeconds'] = 1;
  if (!probe['periodSeconds']) probe['periodSeconds'] = 10;
  if (!probe['successThreshold']) probe['successThreshold'] = 1;
  if (!probe['failureThreshold']) probe['failureThreshold'] = 3;
  defaultHttpGet(probe);
  const grpc = objectAt(probe, 'grpc');
  if (grpc !== undefined) fill(grpc, 'service', '');
}

function defaultHttpGet(handler: JsonObject): void {
  const action = objectAt(handler, 'httpGet');
  if (action === undefined) return;
  fillText(action, 'path', '/');
  fillText(action, 'scheme', 'HTTP');
}

import type { JsonObject } from '@sheaf/base';
import type { KubeObject } from '../../meta/object.ts';
import { fieldsAt, fillText, listAt, objectAt, specOf } from '../fields.ts';

export function defaultResourceClaim(claim: KubeObject): void {
  defaultRequests(specOf(claim));
}

export function defaultClaimTemplate(template: KubeObject): void {
  defaultRequests(fieldsAt(specOf(template), 'spec'));
}

function defaultRequests(spec: JsonObject): void {
  for (const request of listAt(fieldsAt(spec, 'devices'), 'requests')) {
    const exactly = objectAt(request, 'exactly');
    if (exactly !== undefined) defaultDeviceRequest(exactly);
    for (const sub of listAt(request, 'firstAvailable')) defaultDeviceRequest(sub);
  }
}

function defaultDeviceRequest(request: JsonObject): void {
  fillText(request, 'allocationMode', 'ExactCount');
  if (request['allocationMode'] === 'ExactCount' && !request['count']) request['count'] = 1;
  for (const toleration of listAt(request, 'tolerations')) fillText(toleration, 'operator', 'Equal');
}

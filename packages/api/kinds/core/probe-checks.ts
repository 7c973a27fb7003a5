import type { JsonObject, JsonValue } from '@sheaf/base';
import { forbiddenField, invalid, required } from '../../meta/field-error.ts';
import { portNameErrors, portNumberErrors } from '../../meta/names.ts';
import { checkEnum, checkNotNegative, type Errors } from '../checks.ts';
import { fieldsAt, listAt, numberAt, objectAt, textAt, textsAt } from '../fields.ts';

/** A port by number or by name. */
export function checkPort(errors: Errors, field: string, port: JsonValue | undefined): void {
  const found = typeof port === 'string' ? portNameErrors(port) : portNumberErrors(Number(port ?? 0));
  for (const detail of found) errors.push(invalid(field, port ?? 0, detail));
}

const headerDetail =
  "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')";

const handlers: readonly (readonly [string, (errors: Errors, field: string, action: JsonObject) => void])[] =
  [
    [
      'exec',
      (errors, field, action) => {
        if (textsAt(action, 'command').length === 0) errors.push(required(`${field}.command`));
      },
    ],
    ['httpGet', checkHttpGet],
    ['tcpSocket', (errors, field, action) => checkPort(errors, `${field}.port`, action['port'])],
    ['grpc', (errors, field, action) => checkPort(errors, `${field}.port`, action['port'])],
    [
      'sleep',
      (errors, field, action) => {
        const seconds = numberAt(action, 'seconds') ?? 0;
        if (seconds < 0) errors.push(invalid(field, seconds, `must be non-negative`));
      },
    ],
  ];

function checkHttpGet(errors: Errors, field: string, action: JsonObject): void {
  if (!textAt(action, 'path')) errors.push(required(`${field}.path`));
  checkPort(errors, `${field}.port`, action['port']);
  checkEnum(errors, { field: `${field}.scheme`, value: textAt(action, 'scheme') }, ['HTTP', 'HTTPS']);
  for (const header of listAt(action, 'httpHeaders')) {
    const name = textAt(header, 'name');
    if (!/^[-A-Za-z0-9]+$/.test(name)) errors.push(invalid(`${field}.httpHeaders`, name, headerDetail));
  }
}

/** Exactly one way to act on the container. */
function checkHandler(errors: Errors, field: string, handler: JsonObject): void {
  let count = 0;
  for (const [name, check] of handlers) {
    const action = objectAt(handler, name);
    if (action === undefined) continue;
    count++;
    if (count === 1) check(errors, `${field}.${name}`, action);
    else errors.push(forbiddenField(`${field}.${name}`, 'may not specify more than 1 handler type'));
  }
  if (count === 0) errors.push(required(field, 'must specify a handler type'));
}

function checkProbe(errors: Errors, field: string, probe: JsonObject): void {
  checkHandler(errors, field, probe);
  const names = [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ];
  for (const name of names) checkNotNegative(errors, `${field}.${name}`, probe[name]);
  const grace = numberAt(probe, 'terminationGracePeriodSeconds');
  if (grace !== undefined && grace <= 0)
    errors.push(invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
}

export function checkLifecycle(errors: Errors, field: string, lifecycle: JsonObject): void {
  for (const name of ['postStart', 'preStop']) {
    const hook = objectAt(lifecycle, name);
    if (hook !== undefined) checkHandler(errors, `${field}.${name}`, hook);
  }
}

export function checkProbes(errors: Errors, field: string, container: JsonObject): void {
  for (const name of ['livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
    const probe = objectAt(container, name);
    if (probe === undefined) continue;
    checkProbe(errors, `${field}.${name}`, probe);
    if (name === 'readinessProbe') checkReadiness(errors, `${field}.${name}`, fieldsAt(container, name));
    else if (probe['successThreshold'] !== 1 && probe['successThreshold'] !== undefined)
      errors.push(invalid(`${field}.${name}.successThreshold`, probe['successThreshold'], 'must be 1'));
  }
}

function checkReadiness(errors: Errors, field: string, probe: JsonObject): void {
  const grace = probe['terminationGracePeriodSeconds'];
  if (grace !== undefined)
    errors.push(
      invalid(`${field}.terminationGracePeriodSeconds`, grace, 'must not be set for readinessProbes'),
    );
}

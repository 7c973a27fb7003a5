import type { JsonObject } from '@sheaf/base';
import {
  duplicate,
  type FieldError,
  forbiddenField,
  invalid,
  notSupported,
  required,
} from '../../meta/field-error.ts';
import { dns1123LabelErrors, portNameErrors, portNumberErrors } from '../../meta/names.ts';
import { checkEnum, checkOptionalEnum, type Errors, pushInvalid } from '../checks.ts';
import { fieldsAt, listAt, objectAt, textAt } from '../fields.ts';
import { checkContainerResources } from './container-resource-checks.ts';
import { checkEnvironment } from './environment-checks.ts';
import { checkDescendingPath } from './path-checks.ts';
import { checkLifecycle, checkProbes } from './probe-checks.ts';
import { checkContainerSecurity } from './security-context-checks.ts';

/** Volumes of the pod by name. */
export type VolumesByName = ReadonlyMap<string, JsonObject>;

interface Lists {
  readonly spec: JsonObject;
  readonly volumes: VolumesByName;
}

const protocols = ['SCTP', 'TCP', 'UDP'];

export function checkContainers(errors: Errors, field: string, { spec, volumes }: Lists): void {
  const containers = listAt(spec, 'containers');
  if (containers.length === 0) errors.push(required(`${field}.containers`));
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${field}.containers[${index}]`;
    checkContainer(errors, at, { container, volumes });
    checkUnique(errors, `${at}.name`, [textAt(container, 'name'), names]);
    checkRunning(errors, at, container);
    checkOptionalEnum(errors, { field: `${at}.restartPolicy`, value: container['restartPolicy'] }, [
      'Always',
      'Never',
      'OnFailure',
    ]);
  }
  checkHostPorts(errors, `${field}.containers`, containers);
  checkInitContainers(errors, `${field}.initContainers`, {
    spec,
    volumes,
    names: new Set(containers.map((item) => textAt(item, 'name'))),
  });
}

function checkUnique(errors: Errors, field: string, [name, names]: readonly [string, Set<string>]): void {
  if (names.has(name)) errors.push(duplicate(field, name));
  names.add(name);
}

function checkRunning(errors: Errors, field: string, container: JsonObject): void {
  const lifecycle = objectAt(container, 'lifecycle');
  if (lifecycle !== undefined) checkLifecycle(errors, `${field}.lifecycle`, lifecycle);
  checkProbes(errors, field, container);
}

function checkInitContainers(
  errors: Errors,
  field: string,
  { spec, volumes, names }: Lists & { readonly names: Set<string> },
): void {
  for (const [index, container] of listAt(spec, 'initContainers').entries()) {
    const at = `${field}[${index}]`;
    checkContainer(errors, at, { container, volumes });
    checkOptionalEnum(errors, { field: `${at}.restartPolicy`, value: container['restartPolicy'] }, [
      'Always',
      'Never',
      'OnFailure',
    ]);
    checkUnique(errors, `${at}.name`, [textAt(container, 'name'), names]);
    checkHostPorts(errors, field, [container]);
    if (container['restartPolicy'] === 'Always') checkRunning(errors, at, container);
    else forbidRunning(errors, at, container);
  }
}

/** What ends before the pod starts is not watched. */
function forbidRunning(errors: Errors, field: string, container: JsonObject): void {
  for (const name of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'])
    if (container[name] !== undefined)
      errors.push(
        forbiddenField(`${field}.${name}`, 'may not be set for init containers without restartPolicy=Always'),
      );
}

/** What holds for each container, of whatever list. */
function checkContainer(
  errors: Errors,
  field: string,
  { container, volumes }: { container: JsonObject; volumes: VolumesByName },
): void {
  const name = textAt(container, 'name');
  if (name === '') errors.push(required(`${field}.name`));
  else pushInvalid(errors, { field: `${field}.name`, value: name }, dns1123LabelErrors(name));
  if (textAt(container, 'image') === '') errors.push(required(`${field}.image`));
  checkEnum(
    errors,
    { field: `${field}.terminationMessagePolicy`, value: textAt(container, 'terminationMessagePolicy') },
    ['File', 'FallbackToLogsOnError'],
  );
  checkPorts(errors, `${field}.ports`, listAt(container, 'ports'));
  checkEnvironment(errors, field, container);
  checkMounts(errors, `${field}.volumeMounts`, { container, volumes });
  checkDevices(errors, `${field}.volumeDevices`, { container, volumes });
  checkEnum(errors, { field: `${field}.imagePullPolicy`, value: textAt(container, 'imagePullPolicy') }, [
    'Always',
    'IfNotPresent',
    'Never',
  ]);
  checkContainerResources(errors, `${field}.resources`, fieldsAt(container, 'resources'));
  checkResizePolicy(errors, `${field}.resizePolicy`, listAt(container, 'resizePolicy'));
  checkContainerSecurity(errors, `${field}.securityContext`, objectAt(container, 'securityContext'));
}

function checkPorts(errors: Errors, field: string, ports: readonly JsonObject[]): void {
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const at = `${field}[${index}]`;
    const name = textAt(port, 'name');
    const wrong = name === '' ? [] : portNameErrors(name);
    for (const detail of wrong) errors.push(invalid(`${at}.name`, name, detail));
    if (name !== '' && wrong.length === 0) checkUnique(errors, `${at}.name`, [name, names]);
    const number = Number(port['containerPort'] ?? 0);
    if (number === 0) errors.push(required(`${at}.containerPort`));
    else pushInvalid(errors, { field: `${at}.containerPort`, value: number }, portNumberErrors(number));
    const hostPort = Number(port['hostPort'] ?? 0);
    if (hostPort !== 0)
      pushInvalid(errors, { field: `${at}.hostPort`, value: hostPort }, portNumberErrors(hostPort));
    checkEnum(errors, { field: `${at}.protocol`, value: textAt(port, 'protocol') }, protocols);
  }
}

/** No two containers listen on one port of the host. */
function checkHostPorts(errors: Errors, field: string, containers: readonly JsonObject[]): void {
  const taken = new Set<string>();
  for (const [index, container] of containers.entries()) {
    for (const [place, port] of listAt(container, 'ports').entries()) {
      const number = Number(port['hostPort'] ?? 0);
      if (number === 0) continue;
      const key = `${textAt(port, 'protocol')}/${textAt(port, 'hostIP')}/${number}`;
      if (taken.has(key)) errors.push(duplicate(`${field}[${index}].ports[${place}].hostPort`, key));
      taken.add(key);
    }
  }
}

interface Mounting {
  readonly container: JsonObject;
  readonly volumes: VolumesByName;
}

function notFound(field: string, value: string): FieldError {
  return { type: 'FieldValueNotFound', field, message: `Not found: ${JSON.stringify(value)}` };
}

function checkMounts(errors: Errors, field: string, { container, volumes }: Mounting): void {
  const paths = new Set<string>();
  const devices = new Set(listAt(container, 'volumeDevices').map((device) => textAt(device, 'name')));
  const devicePaths = new Set(
    listAt(container, 'volumeDevices').map((device) => textAt(device, 'devicePath')),
  );
  for (const [index, mount] of listAt(container, 'volumeMounts').entries()) {
    const at = `${field}[${index}]`;
    const [name, path] = [textAt(mount, 'name'), textAt(mount, 'mountPath')];
    if (name === '') errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
    if (path === '') errors.push(required(`${at}.mountPath`));
    if (paths.has(path)) errors.push(invalid(`${at}.mountPath`, path, 'must be unique'));
    paths.add(path);
    if (devices.has(name))
      errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devicePaths.has(path))
      errors.push(invalid(`${at}.mountPath`, path, 'must not already exist as a path in volumeDevices'));
    checkSubPaths(errors, field, { mount, at });
    checkOptionalEnum(errors, { field: `${field}.mountPropagation`, value: mount['mountPropagation'] }, [
      'Bidirectional',
      'HostToContainer',
      'None',
    ]);
  }
}

function checkSubPaths(
  errors: Errors,
  field: string,
  { mount, at }: { mount: JsonObject; at: string },
): void {
  const [path, expression] = [textAt(mount, 'subPath'), textAt(mount, 'subPathExpr')];
  if (path !== '') checkDescendingPath(errors, `${field}.subPath`, path);
  if (expression === '') return;
  if (path !== '')
    errors.push(invalid(`${at}.subPathExpr`, expression, 'subPathExpr and subPath are mutually exclusive'));
  checkDescendingPath(errors, `${field}.subPathExpr`, expression);
}

function checkDevices(errors: Errors, field: string, { container, volumes }: Mounting): void {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  for (const [index, device] of listAt(container, 'volumeDevices').entries()) {
    const at = `${field}[${index}]`;
    const [name, path] = [textAt(device, 'name'), textAt(device, 'devicePath')];
    if (name === '') errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'));
    names.add(name);
    const volume = volumes.get(name);
    if (volume === undefined) errors.push(notFound(`${at}.name`, name));
    else if (
      objectAt(volume, 'persistentVolumeClaim') === undefined &&
      objectAt(volume, 'ephemeral') === undefined
    )
      errors.push(
        invalid(
          `${at}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    if (path === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(path)) errors.push(invalid(`${at}.devicePath`, path, 'must be unique'));
    paths.add(path);
  }
}

function checkResizePolicy(errors: Errors, field: string, policies: readonly JsonObject[]): void {
  const seen = new Set<string>();
  for (const policy of policies) {
    const resource = textAt(policy, 'resourceName');
    if (seen.has(resource)) errors.push(duplicate(field, resource));
    seen.add(resource);
    if (resource === '') errors.push(required(field));
    else if (resource !== 'cpu' && resource !== 'memory')
      errors.push(notSupported(field, resource, ['cpu', 'memory']));
    checkEnum(errors, { field, value: textAt(policy, 'restartPolicy') }, ['NotRequired', 'RestartContainer']);
  }
}

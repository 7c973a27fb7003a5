import {
  type AdmissionMutation,
  type AdmissionVerdict,
  type ApiExtensions,
  allow,
  byteStreamAnswer,
  dataAnswer,
  deny,
  type ExtensionEndpoint,
  emptyAnswer,
  jsonAnswer,
  type KubeObject,
  messageStreamAnswer,
  patchWith,
  type RouteRequest,
  refuse,
  replaceWith,
  textAnswer,
} from '@sheaf/api';
import { type DuplexStream, ItemQueue, type JsonObject, StatusError, toError } from '@sheaf/base';

/** What a test may look at and decide. */
export interface SampleFeature {
  /** Names of streams that are open now. */
  readonly open: Set<string>;
  /** Bytes of the last upload that have been taken. */
  uploaded: number;
  /** Called for each chunk of an upload. */
  onChunk(): Promise<void>;
  /** Called when an upload is over, with what broke it. */
  onUploadEnd(how: string): void;
}

/** Everything that a feature can add to the API, in small. */
export function registerSample(api: ApiExtensions): SampleFeature {
  const feature: SampleFeature = {
    open: new Set(),
    uploaded: 0,
    onChunk: () => Promise.resolve(),
    onUploadEnd() {},
  };
  for (const version of ['v1', 'v1alpha3'])
    api.addGroup({ group: 'subresources.kubevirt.io', version, endpoints: endpoints(feature) });
  addRoutes(api, feature);
  addAdmission(api);
  return feature;
}

function endpoints({ open }: SampleFeature): ExtensionEndpoint[] {
  const instance = { resource: 'virtualmachineinstances', verbs: ['get'] };
  return [
    {
      resource: 'virtualmachines',
      subresource: 'start',
      verbs: ['update'],
      bodyLimitBytes: 1000,
      async handle({ body, name, warn }) {
        const given = await body.json();
        if (name === 'gone')
          throw new StatusError({
            reason: 'NotFound',
            message: 'virtualmachine.kubevirt.io "gone" not found',
          });
        if (given?.['paused']) warn('it stands still until it is unpaused');
        return emptyAnswer(202);
      },
    },
    {
      ...instance,
      subresource: 'guestosinfo',
      handle: ({ namespace, name, user, version }) =>
        jsonAnswer(200, { namespace, name, version, user: user.name }),
    },
    {
      ...instance,
      subresource: 'console',
      isStream: true,
      handle: () => byteStreamAnswer(echo(open, 'console')),
    },
    {
      ...instance,
      subresource: 'portforward',
      isStream: true,
      takesRest: true,
      handle({ rest }) {
        const stream = echo<Uint8Array>(open, 'portforward');
        void stream.write(Buffer.from(rest.join(' ')));
        return byteStreamAnswer(stream);
      },
    },
    { ...instance, subresource: 'vnc', isStream: true, handle: () => byteStreamAnswer(breaking(open)) },
    {
      ...instance,
      subresource: 'usbredir',
      isStream: true,
      // It never takes anything.
      handle: () =>
        byteStreamAnswer({ ...echo<Uint8Array>(open, 'usbredir'), write: () => new Promise(() => {}) }),
    },
    { ...instance, subresource: 'vnc/screenshot', handle: () => dataAnswer('image/png', Buffer.from('PNG')) },
    {
      resource: 'version',
      verbs: ['list'],
      isNamespaced: false,
      kind: 'Version',
      handle: () => jsonAnswer(200, { gitVersion: 'v1.8.0' }),
    },
  ];
}

/** Gives back what it gets. */
function echo<T extends string | Uint8Array>(open: Set<string>, name: string): DuplexStream<T> {
  const queue = new ItemQueue<T>(() => {});
  open.add(name);
  return {
    readable: queue.items(),
    write(item) {
      queue.push(item);
      // A guest that logs out.
      if (item.toString() === 'exit') queue.end();
      return Promise.resolve();
    },
    dispose() {
      queue.end();
      open.delete(name);
    },
  };
}

/** Fails at the first byte. */
function breaking(open: Set<string>): DuplexStream<Uint8Array> {
  return { ...echo<Uint8Array>(open, 'vnc'), write: () => Promise.reject(new Error('the machine is gone')) };
}

function addRoutes(api: ApiExtensions, feature: SampleFeature): void {
  const path = '/v1/sample/machines/{namespace}/{name}';
  const failure = (error: StatusError) => textAnswer(error.code, `${error.reason}: ${error.message}`);
  const mayUpdate = ({ authorize, parameters }: RouteRequest): Promise<void> =>
    authorize({ verb: 'update', group: '', resource: 'configmaps', ...parameters });
  api.addRoute({
    method: 'POST',
    path,
    action: 'start',
    access: 'authorized',
    failure,
    async handle(request) {
      await mayUpdate(request);
      const { fail } = (await request.body.json()) ?? {};
      if (fail)
        throw new StatusError({ reason: '', code: 422, message: 'InvalidBodyContent: it must not fail' });
      return emptyAnswer(204);
    },
  });
  api.addRoute({
    method: 'POST',
    path,
    access: 'authenticated',
    handle: ({ query }) => textAnswer(403, `no action ${query.get('action')}`),
  });
  for (const [action, megabytes] of [
    ['upload', 256],
    ['upload-small', 1],
  ] as const)
    api.addRoute({
      method: 'POST',
      path,
      action,
      access: 'authorized',
      bodyLimitBytes: megabytes * 1024 * 1024,
      isLongRunning: true,
      async handle(request) {
        await mayUpdate(request);
        feature.uploaded = 0;
        try {
          for await (const chunk of request.body.stream()) {
            feature.uploaded += chunk.length;
            await feature.onChunk();
          }
        } catch (error) {
          feature.onUploadEnd(toError(error).message);
          throw error;
        }
        return jsonAnswer(200, { bytes: feature.uploaded });
      },
    });
  api.addRoute({
    method: 'POST',
    path,
    action: 'form',
    access: 'authorized',
    async handle(request) {
      await mayUpdate(request);
      const found: JsonObject = {};
      for await (const { name, content } of request.body.parts())
        found[name] = Buffer.concat(await Array.fromAsync(content)).toString();
      return jsonAnswer(200, found);
    },
  });
  api.addRoute({
    method: 'GET',
    path: '/v1/sample/forgetful',
    access: 'authorized',
    handle: () => textAnswer(200, 'secret'),
  });
  api.addRoute({
    method: 'GET',
    path: '/v1/sample/public',
    access: 'public',
    handle: () => textAnswer(200, 'hello'),
  });
  api.addRoute({
    method: 'GET',
    path: '/v1/sample/own-token',
    access: 'own-token',
    handle: ({ headers, user }) => textAnswer(200, `${String(headers['authorization'])} of ${user.name}`),
  });
  api.addRoute({
    method: 'GET',
    path: '/v1/sample/files/{path...}',
    access: 'authenticated',
    handle: ({ parameters }) => dataAnswer('text/plain', lines(parameters['path'] ?? '')),
  });
  api.addRoute({
    method: 'GET',
    path: '/v1/sample/subscribe',
    access: 'authenticated',
    handle: () => messageStreamAnswer(echo<string>(feature.open, 'subscribe')),
  });
}

async function* lines(path: string): AsyncGenerator<Uint8Array> {
  for (let line = 0; line < 3; line++) {
    await Promise.resolve();
    if (path === 'broken' && line === 2) throw new Error('the disk is gone');
    yield Buffer.from(`${path} ${line}\n`);
  }
}

function addAdmission(api: ApiExtensions): void {
  const configMaps = { group: '', resource: 'configmaps' };
  const machines = { group: 'example.com', resource: 'machines' };
  api.addAdmission({
    name: 'sample',
    targets: [configMaps, machines],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    reads: [configMaps],
    mutate: (object) => mutated(object),
    validate: (object, old, { operation, objects, namespace }) => {
      if (operation === 'DELETE') return deletable(old);
      const taken = objects
        .list(configMaps, namespace)
        .filter(({ metadata }) => metadata.name !== object?.metadata.name)
        .find((other) => addressOf(other) !== undefined && addressOf(other) === addressOf(object));
      return taken ? inUse(taken) : allow();
    },
  });
  api.addAdmission({
    name: 'sample-mistake',
    targets: [machines],
    operations: ['CREATE'],
    validate: (object, _old, { objects }) => {
      if (object?.metadata.name === 'mistake') objects.list({ group: '', resource: 'secrets' });
      return allow();
    },
  });
  api.addAdmission({
    name: 'sample-names',
    targets: [machines],
    operations: ['CREATE'],
    validate: (object) =>
      object?.metadata.name === 'webhook'
        ? refuse(
            new StatusError({
              reason: 'BadRequest',
              message: 'admission webhook "m" denied the request: no',
            }),
          )
        : object?.metadata.name?.startsWith('x-')
          ? deny({
              reason: 'Invalid',
              message: 'the name is kept for later',
              wayOut: 'Choose one that does not begin with "x-".',
              causes: [{ reason: 'FieldValueInvalid', field: 'metadata.name', message: 'begins with "x-"' }],
            })
          : allow('sample machines do nothing'),
  });
}

function mutated(object: KubeObject | undefined): AdmissionMutation {
  if (!object || object.metadata.labels?.['sample'] === 'seen') return allow();
  if (object.kind === 'Machine')
    return replaceWith({
      ...object,
      metadata: { ...object.metadata, labels: { ...object.metadata.labels, sample: 'seen' } },
    });
  const labels = object.metadata.labels ?? {};
  return patchWith({ op: 'add', path: '/metadata/labels', value: { ...labels, sample: 'seen' } });
}

function addressOf(object: KubeObject | undefined): unknown {
  return (object?.['data'] as { address?: string } | undefined)?.address;
}

function inUse({ metadata }: KubeObject): AdmissionVerdict {
  return deny({
    reason: 'Conflict',
    message: `the address is used by ${metadata.name}`,
    wayOut: 'Choose another one, or delete that object.',
  });
}

function deletable(old: KubeObject | undefined): AdmissionVerdict {
  if (old?.metadata.annotations?.['sample/protected'] === undefined) return allow();
  return deny({
    reason: 'Forbidden',
    message: 'it is protected',
    wayOut: 'Remove the annotation sample/protected first.',
  });
}

const plain = ['application/json', 'application/yaml'];
const protobuf = 'application/vnd.kubernetes.protobuf';
const jsonStream = 'application/json;stream=watch';
const protobufStream = `${protobuf};stream=watch`;

/** What the operations of a resource take and give; only built-in kinds have protobuf and strategic merge patches. */
export interface MediaTypes {
  readonly object: readonly string[];
  readonly list: readonly string[];
  readonly body: readonly string[];
  readonly patch: readonly string[];
}

export const builtinMediaTypes: MediaTypes = {
  object: ['application/json', protobuf, 'application/yaml'],
  list: ['application/json', jsonStream, protobuf, protobufStream, 'application/yaml'],
  body: ['*/*'],
  patch: [
    'application/apply-patch+yaml',
    'application/json-patch+json',
    'application/merge-patch+json',
    'application/strategic-merge-patch+json',
  ],
};

export const customMediaTypes: MediaTypes = {
  object: plain,
  list: plain,
  body: plain,
  patch: ['application/apply-patch+yaml', 'application/json-patch+json', 'application/merge-patch+json'],
};

export const logMediaTypes: readonly string[] = [...builtinMediaTypes.object, 'text/plain'];
export const anyMediaType: readonly string[] = ['*/*'];

import { encodeEnvelope, watchFrame } from '@sheaf/api';
import { stringify } from 'yaml';
import type { Format, WatchEventType } from './representation.ts';

const frameEnd = Buffer.from('}\n');
const yamlSeparator = Buffer.from('---\n');

const frameStarts = new Map<WatchEventType, Buffer>(
  (['ADDED', 'MODIFIED', 'DELETED', 'BOOKMARK', 'ERROR'] as const).map((type) => [
    type,
    Buffer.from(`{"type":"${type}","object":`),
  ]),
);

export const jsonFormat: Format = {
  name: 'json',
  contentType: 'application/json',
  watchContentType: 'application/json',
  encode(object) {
    return Buffer.from(JSON.stringify(object), 'utf8');
  },
  frame(type, encoded) {
    return Buffer.concat([frameStarts.get(type) as Buffer, encoded, frameEnd]);
  },
};

/** Indented JSON for people: `?pretty=true`, curl, browsers. */
export const prettyJsonFormat: Format = {
  ...jsonFormat,
  encode(object) {
    return Buffer.from(`${JSON.stringify(object, undefined, 2)}\n`, 'utf8');
  },
};

export const yamlFormat: Format = {
  name: 'yaml',
  contentType: 'application/yaml',
  watchContentType: 'application/yaml',
  encode(object) {
    return Buffer.from(
      stringify(object, { version: '1.1', aliasDuplicateObjects: false, lineWidth: 0 }),
      'utf8',
    );
  },
  frame(type, encoded) {
    const nested = Buffer.from(encoded)
      .toString('utf8')
      .replace(/^(?=.)/gm, '  ');
    return Buffer.concat([yamlSeparator, Buffer.from(`type: ${type}\nobject:\n${nested}`, 'utf8')]);
  },
};

export const protobufFormat: Format = {
  name: 'protobuf',
  contentType: 'application/vnd.kubernetes.protobuf',
  watchContentType: 'application/vnd.kubernetes.protobuf;stream=watch',
  encode(object) {
    return encodeEnvelope(object);
  },
  frame(type, encoded) {
    return watchFrame(type, encoded);
  },
};

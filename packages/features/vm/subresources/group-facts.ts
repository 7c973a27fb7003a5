import { type ExtensionEndpoint, jsonAnswer } from '@sheaf/api';
import { StatusError } from '@sheaf/base';

/** The feature set of KubeVirt that clients may expect; `virtctl` compares it with its own version. */
const version = {
  gitVersion: 'v1.8.0',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: '',
  compiler: '',
  platform: 'linux/amd64',
};

const shared = { verbs: ['list', 'get'], isNamespaced: false };

/** What the group tells of itself, to everybody who may ask. */
export function groupEndpoints(): readonly ExtensionEndpoint[] {
  return [
    { ...shared, resource: 'version', handle: () => jsonAnswer(200, version) },
    // Whoever gets an answer has reached a server that works: there is nothing behind it that could fail alone.
    { ...shared, resource: 'healthz', handle: () => jsonAnswer(200, { apiserver: { connectivity: 'ok' } }) },
    {
      ...shared,
      resource: 'guestfs',
      handle: () => {
        throw new StatusError({
          reason: 'NotFound',
          message:
            'the libguestfs tools are not part of this server, which runs no Pods; attach the disk to another virtual machine (virtctl addvolume) and work on it there',
        });
      },
    },
  ];
}

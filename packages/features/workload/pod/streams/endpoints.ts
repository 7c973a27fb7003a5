import type { ExtensionEndpoint } from '@sheaf/api';
import { type LogParts, readLog } from './log.ts';
import { forwardPorts } from './port-forward.ts';
import { attach, execute } from './process.ts';

/** What can be seen of containers and done in them, where they run: log, exec, attach, port-forward. */
export function podStreamEndpoints(parts: LogParts): readonly ExtensionEndpoint[] {
  // Over SPDY they are posted, over WebSockets got.
  const stream = { resource: 'pods', verbs: ['get', 'create'], isOfKept: true } as const;
  return [
    {
      resource: 'pods',
      subresource: 'log',
      verbs: ['get'],
      isOfKept: true,
      handle: (request) => readLog(parts, request),
    },
    { ...stream, subresource: 'exec', kind: 'PodExecOptions', handle: (request) => execute(parts, request) },
    {
      ...stream,
      subresource: 'attach',
      kind: 'PodAttachOptions',
      handle: (request) => attach(parts, request),
    },
    {
      ...stream,
      subresource: 'portforward',
      kind: 'PodPortForwardOptions',
      handle: (request) => forwardPorts(parts, request),
    },
  ];
}

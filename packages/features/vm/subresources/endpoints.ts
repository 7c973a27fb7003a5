import type { ExtensionEndpoint } from '@sheaf/api';
import { consoleEndpoints } from './consoles.ts';
import { groupEndpoints } from './group-facts.ts';
import { type AgentParts, agentEndpoints } from './guest-agent.ts';
import { objectEndpoints } from './object-requests.ts';
import { portForwardEndpoints } from './port-forward.ts';
import { refusedEndpoints } from './refused-requests.ts';

/** Everything of the group but what changes machines and their processes. */
export function furtherEndpoints(parts: AgentParts): readonly ExtensionEndpoint[] {
  return [
    ...consoleEndpoints(parts),
    ...portForwardEndpoints(parts),
    ...agentEndpoints(parts),
    ...objectEndpoints(parts),
    ...refusedEndpoints(parts),
    ...groupEndpoints(),
  ];
}

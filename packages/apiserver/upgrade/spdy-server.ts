import type { OwnUpgradeAnswer } from '@sheaf/api';
import { socketStream } from './socket-stream.ts';
import { servePorts } from './spdy-ports.ts';
import { serveProcess } from './spdy-process.ts';
import type { UpgradeOptions, UpgradingConnection } from './upgrading-connection.ts';

/** Accepts the upgrade and speaks SPDY/3.1 on the connection from then on, until it ends. Never throws. */
export async function serveSpdy(
  { socket, head }: UpgradingConnection,
  answer: OwnUpgradeAnswer,
  options: UpgradeOptions,
): Promise<void> {
  const lines = ['HTTP/1.1 101 Switching Protocols', 'Connection: Upgrade', 'Upgrade: SPDY/3.1'];
  if (options.protocol !== undefined) lines.push(`X-Stream-Protocol-Version: ${options.protocol}`);
  for (const [name, value] of Object.entries(options.headers))
    for (const text of [value].flat()) lines.push(`${name}: ${text}`);
  const transport = socketStream(socket, head);
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  switch (answer.kind) {
    case 'process':
      return await serveProcess(transport, answer, options);
    case 'ports':
      return await servePorts(transport, answer, options);
    // Not offered over SPDY: the request was refused before.
    case 'bytes':
    case 'messages':
      answer.stream.dispose();
      return transport.dispose();
  }
}

import { connect } from 'node:net';
import type { CheckResult, CheckTarget } from '@sheaf/ports';
import { addressOf, wordsOf } from './network-words.ts';

/** Makes a connection and ends it at once. */
export function checkTcp(target: CheckTarget, signal: AbortSignal): Promise<CheckResult> {
  const failed = (text: string): CheckResult => ({
    isHealthy: false,
    text: `dial tcp ${addressOf(target)}: ${text}`,
  });
  if (signal.aborted) return Promise.resolve(failed('i/o timeout'));
  return new Promise((resolve) => {
    const socket = connect({ host: target.host, port: target.port });
    const settle = (result: CheckResult): void => {
      signal.removeEventListener('abort', onAbort);
      resolve(result);
      socket.destroy();
    };
    const onAbort = (): void => settle(failed('i/o timeout'));
    signal.addEventListener('abort', onAbort);
    socket.once('connect', () => settle({ isHealthy: true }));
    socket.on('error', (error) => settle(failed(wordsOf(error))));
  });
}

import {
  byteStreamAnswer,
  dataAnswer,
  type ExtensionAnswer,
  type ExtensionEndpoint,
  type ExtensionRequest,
} from '@sheaf/api';
import { badRequest } from '@sheaf/base';
import { checkConsole, checkScreen } from './instance-check.ts';
import { checkedInstance, processIdOf, type SubresourceParts } from './instance-request.ts';
import { logWithStream } from './log-stream.ts';

const resource = 'virtualmachineinstances';
const verbs = ['get'];

/** Serial console and screen, each for any number of viewers at once; what they show as a text and as a picture. */
export function consoleEndpoints({ client, hypervisor }: SubresourceParts): readonly ExtensionEndpoint[] {
  return [
    {
      resource,
      subresource: 'console',
      verbs,
      isStream: true,
      async handle(request) {
        const instance = await checkedInstance(client, request, checkConsole);
        return byteStreamAnswer(await hypervisor.openSerial(processIdOf(instance), request.signal));
      },
    },
    {
      resource,
      subresource: 'vnc',
      verbs,
      isStream: true,
      async handle(request) {
        const instance = await checkedInstance(client, request, checkScreen);
        return byteStreamAnswer(await hypervisor.openScreen(processIdOf(instance), request.signal));
      },
    },
    {
      resource,
      subresource: 'vnc/screenshot',
      verbs,
      async handle(request) {
        const instance = await checkedInstance(client, request, checkScreen);
        const picture = await hypervisor.screenshot(processIdOf(instance), request.signal);
        return dataAnswer('image/png', picture);
      },
    },
    { resource, subresource: 'console/log', verbs, handle: (request) => readLog(request) },
  ];

  /** Own: what the serial console has printed, kept while the instance is there. */
  async function readLog(request: ExtensionRequest): Promise<ExtensionAnswer> {
    const tailBytes = tailBytesOf(request.query.get('tailBytes'));
    const isFollowed = request.query.get('follow') === 'true';
    const check = isFollowed ? checkConsole : () => undefined;
    const instance = await checkedInstance(client, request, check);
    const id = processIdOf(instance);
    const log = (signal: AbortSignal): Promise<Uint8Array> =>
      hypervisor.readSerialLog(id, { tailBytes }, signal);
    if (!isFollowed) return dataAnswer(textType, await log(request.signal));
    const stream = await hypervisor.openSerial(id, request.signal);
    return dataAnswer(textType, logWithStream(log, stream, request.signal));
  }
}

/** What a guest prints need not be valid in any encoding. */
const textType = 'text/plain';
const defaultTailBytes = 256 * 1024;
const maxTailBytes = 16 * 1024 * 1024;

function tailBytesOf(given: string | null): number {
  if (given === null) return defaultTailBytes;
  const bytes = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (bytes <= maxTailBytes) return bytes;
  throw badRequest(`tailBytes=${given} is no number of bytes: give a whole number up to ${maxTailBytes}`);
}

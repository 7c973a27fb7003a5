import { controlBit, type Frame, frameTypes, lastFlag, version } from './frames.ts';
import { HeaderEncoder, uint32 } from './header-block.ts';

/** Makes the bytes of one direction of a session. */
export class FrameWriter {
  readonly #headers = new HeaderEncoder();

  write(frame: Frame): Buffer {
    switch (frame.kind) {
      case 'open': {
        const block = this.#headers.encode(frame.headers);
        // Of no other stream, of the highest priority.
        const body = [uint32(frame.streamId), uint32(0), Buffer.alloc(2), block];
        return control(frameTypes.open, body, frame.isLast);
      }
      case 'reply':
        return control(
          frameTypes.reply,
          [uint32(frame.streamId), this.#headers.encode(frame.headers)],
          frame.isLast,
        );
      case 'data':
        return Buffer.concat([
          uint32(frame.streamId),
          flagsAndLength(frame.isLast, frame.bytes.length),
          frame.bytes,
        ]);
      case 'reset':
        return control(frameTypes.reset, [uint32(frame.streamId), uint32(frame.status)]);
      case 'ping':
        return control(frameTypes.ping, [uint32(frame.id)]);
      case 'go-away':
        return control(frameTypes.goAway, [uint32(0), uint32(0)]);
    }
  }
}

function control(type: number, body: readonly Buffer[], isLast = false): Buffer {
  const length = body.reduce((sum, part) => sum + part.length, 0);
  const first = uint32(controlBit + (version << 16) + type);
  return Buffer.concat([first, flagsAndLength(isLast, length), ...body]);
}

function flagsAndLength(isLast: boolean, length: number): Buffer {
  const bytes = uint32(length);
  bytes[0] = isLast ? lastFlag : 0;
  return bytes;
}

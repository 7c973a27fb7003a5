import type { ProcessOutput } from '@sheaf/ports';

const headBytes = 8;
/** Standard input, output and error output, and what the engine itself has to say. */
const kinds = ['stdin', 'stdout', 'stderr', 'engine'] as const;

interface Frame {
  readonly kind: (typeof kinds)[number];
  readonly bytes: Buffer;
}

/**
 * Takes apart the two outputs of a process that come on one connection. Each frame begins with the number of its stream, three
 * zeros, and its length in four bytes. @throws Error for something else, and what the engine has to say
 */
export async function* framesOf(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ProcessOutput> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    rest = Buffer.concat([rest, chunk]);
    for (let frame = firstFrame(rest); frame; frame = firstFrame(rest)) {
      rest = rest.subarray(headBytes + frame.bytes.length);
      const output = outputOf(frame);
      if (output.bytes.length > 0) yield output;
    }
  }
}

/** `undefined` until all of it is there. */
function firstFrame(bytes: Buffer): Frame | undefined {
  if (bytes.length < headBytes) return undefined;
  const kind = kinds[bytes[0] ?? kinds.length];
  if (!kind) throw new Error('the output of the process cannot be read: it is not in frames');
  const end = headBytes + bytes.readUInt32BE(4);
  return bytes.length < end ? undefined : { kind, bytes: bytes.subarray(headBytes, end) };
}

function outputOf({ kind, bytes }: Frame): ProcessOutput {
  if (kind === 'engine') throw new Error(bytes.toString());
  return { stream: kind === 'stderr' ? 'stderr' : 'stdout', bytes };
}

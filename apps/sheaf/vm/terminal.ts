import type { ConnectedStream } from './connected-stream.ts';

/** ctrl-] */
const escapeByte = 0x1d;

/** The terminal of this process, as far as it is needed. */
export interface TerminalInput extends AsyncIterable<unknown> {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
  destroy(): unknown;
}

export interface TerminalOutput {
  write(bytes: Uint8Array): unknown;
}

/**
 * Joins a terminal with a stream until the stream ends or the escape key is pressed; then the terminal is as it was before. An
 * input that is no terminal is sent, and what follows its end is still shown.
 */
export async function attachTerminal(
  stream: ConnectedStream,
  input: TerminalInput,
  output: TerminalOutput,
): Promise<void> {
  const isTerminal = input.isTTY === true;
  if (isTerminal) input.setRawMode?.(true);
  let isLeft = false;
  const send = async (): Promise<void> => {
    for await (const chunk of input) {
      const bytes = chunk as Uint8Array;
      const end = isTerminal ? bytes.indexOf(escapeByte) : -1;
      if (end !== 0) await stream.write(end < 0 ? bytes : bytes.subarray(0, end));
      if (end < 0) continue;
      isLeft = true;
      return stream.dispose();
    }
  };
  try {
    void send().catch(() => stream.dispose());
    for await (const bytes of stream.readable) output.write(bytes);
  } catch (error) {
    // A stream that was broken off here says so as well.
    if (!isLeft) throw error;
  } finally {
    if (isTerminal) input.setRawMode?.(false);
    stream.dispose();
    input.destroy();
  }
}

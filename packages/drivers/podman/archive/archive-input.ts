import { pipeline } from 'node:stream/promises';
import { createZstdDecompress } from 'node:zlib';

const zstdMagic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);

/** What podman reads: it unpacks gzip, bzip2 and xz by itself, not zstd. @throws Error in the middle for what is damaged */
export async function* archiveInput(archive: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = archive[Symbol.asyncIterator]();
  const head: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < zstdMagic.length) {
    const { done, value } = await chunks.next();
    if (done) break;
    head.push(value);
    bytes += value.length;
  }
  const whole = joined(head, { [Symbol.asyncIterator]: () => chunks });
  const isZstd = Buffer.concat(head).subarray(0, zstdMagic.length).equals(zstdMagic);
  yield* isZstd ? unpacked(whole) : whole;
}

async function* unpacked(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unpacking = createZstdDecompress();
  // What goes wrong is thrown by the reading below.
  pipeline(packed, unpacking).catch(() => undefined);
  yield* unpacking;
}

async function* joined(
  head: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* head;
  yield* rest;
}

/** What podman says of an archive that it cannot read, without its guesses at formats that nobody meant. */
export function archiveFailure(errors: string): string {
  const said = [...errors.matchAll(/^ \* (docker-archive|oci-archive): (.+)$/gm)].map(
    ([, format, words = '']) => `as ${format}: ${words.replaceAll(/"?\/[^\s":]+"?/g, 'it')}`,
  );
  const words = said.length > 0 ? said.join('; ') : (errors.trim().split('\n').at(-1) ?? '');
  return `the archive cannot be loaded; it has to be one of docker save, or an OCI layout in a tar file, and whole (${words})`;
}

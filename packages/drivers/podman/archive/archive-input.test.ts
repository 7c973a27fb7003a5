import assert from 'node:assert/strict';
import { it } from 'node:test';
import { zstdCompressSync } from 'node:zlib';
import { archiveFailure, archiveInput } from './archive-input.ts';

async function read(...chunks: readonly Uint8Array[]): Promise<string> {
  async function* feed(): AsyncGenerator<Uint8Array> {
    yield* await Promise.resolve(chunks);
  }
  let text = '';
  for await (const chunk of archiveInput(feed())) text += Buffer.from(chunk).toString();
  return text;
}

it('an archive goes on as it comes, and unpacked if it is zstd, however it is cut', async () => {
  const packed = zstdCompressSync(Buffer.from('content'.repeat(1000)));
  assert.equal(await read(Buffer.from('ab'), Buffer.from('cdef')), 'abcdef');
  assert.equal(await read(Buffer.from('ab')), 'ab');
  assert.equal(await read(), '');
  assert.equal(
    await read(packed.subarray(0, 1), packed.subarray(1, 9), packed.subarray(9)),
    'content'.repeat(1000),
  );
  await assert.rejects(read(packed.subarray(0, 12)));
});

it('a refusal says what was expected, and what podman says of it', () => {
  const said = `Error: payload does not match any of the supported image formats:
 * oci: parsing "localhost/tmp/x": invalid reference format
 * oci-archive: creating temp directory: untarring file "/var/tmp/oci1": unexpected EOF
 * docker-archive: loading tar component manifest.json: archive/tar: invalid tar header
 * dir: open /tmp/podman1/manifest.json: not a directory
`;
  assert.match(
    archiveFailure(said),
    /and whole \(as oci-archive: .*untarring file it: unexpected EOF; as docker-archive: .*invalid tar header\)$/,
  );
  assert.match(archiveFailure('Error: no space left\n'), /\(Error: no space left\)$/);
});

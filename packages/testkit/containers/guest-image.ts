import { existsSync, readFileSync } from 'node:fs';
import { dockerArchive, type ImageContent } from '@sheaf/drivers/podman';

const busybox = '/bin/busybox';
const program = readFileSync(new URL('./guest.sh', import.meta.url));

/** Why no image can be made for tests here. */
export const guestIsMissing = existsSync(busybox)
  ? undefined
  : 'there is no static program for test images: apt-get install busybox-static';

/** Programs of busybox that images of tests have on their path. */
const applets = [
  'sh',
  'cat',
  'hostname',
  'httpd',
  'id',
  'ls',
  'mkdir',
  'nc',
  'printf',
  'ps',
  'sleep',
  'stty',
  'tail',
  'tar',
  'wget',
];

/**
 * An image without a network: busybox with its shell and some of its programs, and the guest of the contract of containers as its
 * entry point (`/guest`, see guest.sh). Other programs are started with an entry point of one's own, such as
 * `['/bin/sh', '-c', '…']`, or `['/bin/httpd', '-f', '-p', '8080', '-h', '/www']` for an HTTP server of the files in `/www`.
 */
export function guestImage(tag: string): ImageContent {
  return {
    name: tag,
    entryPoint: ['/guest'],
    environment: { PATH: '/bin' },
    entries: [
      { path: 'bin' },
      { path: 'bin/busybox', content: readFileSync(busybox) },
      ...applets.map((name) => ({ path: `bin/${name}`, target: 'busybox' })),
      { path: 'guest', content: program },
      { path: 'etc' },
      { path: 'etc/passwd', content: Buffer.from('root:x:0:0:root:/:/bin/sh\n'), mode: 0o644 },
      { path: 'etc/group', content: Buffer.from('root:x:0:\n'), mode: 0o644 },
      { path: 'tmp', mode: 0o1777 },
      { path: 'www' },
      { path: 'www/index.html', content: Buffer.from('it works\n'), mode: 0o644 },
    ],
  };
}

/** The image as an archive that can be loaded. */
export async function* guestArchive(tag: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(dockerArchive([guestImage(tag)]));
}

import { type ImageContent, imageArchitecture } from '../archive/image-archive.ts';
import { pausePrograms } from './pause.gen.ts';

/** What sandboxes are made from: one program, which waits. */
export function pauseImage(): ImageContent {
  const architecture = imageArchitecture();
  const programs: Readonly<Record<string, string>> = pausePrograms;
  const program = programs[architecture];
  if (program === undefined)
    throw new Error(`there is no sandbox program for ${architecture}: run Sheaf on amd64 or arm64`);
  return {
    name: 'localhost/sheaf-sandbox:1',
    architecture,
    entries: [{ path: 'pause', content: Buffer.from(program, 'base64') }],
    entryPoint: ['/pause'],
  };
}

import { createReadStream } from 'node:fs';
import { bundleId, openBundle } from '@sheaf/drivers/bundle';
import type { Arguments } from '../arguments.ts';
import type { HostCommand } from '../vm/machine-command.ts';

export const show: HostCommand = {
  summary: 'Shows what is in a bundle, and verifies all of it; needs no server',
  words: 'FILE [options]',
  async runHere({ positionals: [path = ''] }: Arguments) {
    const { index, parts } = await openBundle(createReadStream(path));
    const missing = new Set(index.parts.map(({ digest }) => digest));
    let bytes = 0;
    for await (const part of parts) {
      for await (const chunk of part.content()) bytes += chunk.length;
      missing.delete(part.digest);
    }
    const [lost] = missing;
    if (lost !== undefined) throw new Error(`${path} is cut off: ${lost} is missing; bring the file again`);
    const lines = [
      `bundle ${bundleId(index)} for ${index.platform}, ${bytes} bytes, whole`,
      ...index.purposes.map((purpose) => `  for      ${purpose}`),
      ...index.charts.map(
        ({ chart, version, repo }) => `  chart    ${chart} ${version}${repo && ` of ${repo}`}`,
      ),
      ...index.images.map(({ reference }) => `  image    ${reference}`),
      ...index.programs.map(({ name, version }) => `  program  ${name} ${version}`),
    ];
    process.stdout.write(`${lines.join('\n')}\n`);
    return 0;
  },
};

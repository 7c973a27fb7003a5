import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Pictured } from './picture.ts';

const directory = join(import.meta.dirname, '../fixtures/statuses');

export interface Recording {
  /** Whose controllers they were. */
  readonly origin: string;
  readonly pictures: ReadonlyMap<string, Pictured>;
}

export async function readRecording(story: string): Promise<Recording> {
  const text = await readFile(join(directory, `${story}.json`), 'utf8');
  const { origin, pictures } = JSON.parse(text) as { origin: string; pictures: Record<string, Pictured> };
  return { origin, pictures: new Map(Object.entries(pictures)) };
}

/** One line for each object. */
export async function writeRecording(story: string, { origin, pictures }: Recording): Promise<void> {
  await mkdir(directory, { recursive: true });
  const steps = [...pictures].map(([title, picture]) => {
    const lines = Object.entries(picture).map(
      ([name, value]) => `  ${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );
    return `${JSON.stringify(title)}:{\n${lines.join(',\n')}\n}`;
  });
  const text = `{"origin":${JSON.stringify(origin)},"pictures":{\n${steps.join(',\n')}\n}}\n`;
  await writeFile(join(directory, `${story}.json`), text);
}

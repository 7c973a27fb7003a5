import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Answer } from './answer.ts';
import type { Answers } from './play.ts';

const directory = join(import.meta.dirname, 'fixtures/recorded');

/** What the real server has answered to a theme: one line per pair. */
export async function readRecording(theme: string): Promise<Answers> {
  const text = await readFile(join(directory, `${theme}.json`), 'utf8');
  return new Map(Object.entries(JSON.parse(text) as Record<string, Answer>));
}

export async function writeRecording(theme: string, answers: Answers): Promise<void> {
  await mkdir(directory, { recursive: true });
  const lines = [...answers].map(([title, answer]) => `${JSON.stringify(title)}:${JSON.stringify(answer)}`);
  await writeFile(join(directory, `${theme}.json`), `{\n${lines.join(',\n')}\n}\n`);
}

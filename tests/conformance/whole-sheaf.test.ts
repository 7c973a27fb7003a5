import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type SheafProcess, startSheaf } from '../sheaf-process.ts';
import { titlesOfWorkloads } from './controllers.ts';
import { readDeliberate } from './deliberate.ts';
import { playTheme } from './play.ts';
import { readRecording } from './recording.ts';
import { serverOf } from './servers.ts';
import { Target } from './target.ts';
import { readThemes } from './theme.ts';
import { judge, tellUnexpected } from './verdict.ts';

let sheaf: SheafProcess;
let target: Target;

before(async () => {
  sheaf = await startSheaf({ further: ['--without-containers'] });
  target = new Target(await serverOf(sheaf.kubeconfig));
});

after(async () => {
  target.close();
  await sheaf.stop();
});

const themes = await readThemes();
const deliberate = [...(await readDeliberate()), ...(await readDeliberate('with-controllers.yaml'))];

for (const theme of themes) {
  test(`${theme.name}: a whole Sheaf answers as the recorded kube-apiserver does`, async () => {
    const recorded = await readRecording(theme.name);
    const beside = titlesOfWorkloads(theme);
    const ours = new Map([...(await playTheme(target, theme))].filter(([title]) => !beside.has(title)));
    const told = tellUnexpected(judge(theme.name, { recorded, ours, deliberate }));
    assert.equal(told.length, 0, told.join('\n'));
  });
}

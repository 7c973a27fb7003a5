import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openTarget, type Target } from '../target.ts';
import { findHelm, findKubectl } from '../tools.ts';
import { runTranscript } from '../transcript/run.ts';
import { readTranscript } from '../transcript/transcript.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const kubectl = await findKubectl();
const helm = 'missing' in kubectl ? kubectl : await findHelm();

describe('helm', { skip: 'missing' in helm ? helm.missing : false }, () => {
  let target: Target | undefined;
  before(async () => {
    target = await openTarget();
  });
  after(() => target?.stop());

  test('a release from install to uninstall', async (context) => {
    assert.ok(target !== undefined && 'path' in helm && 'path' in kubectl);
    const transcript = await readTranscript(path('./scenario.yaml'));
    const tools = { kubectl: kubectl.path, helm: helm.path };
    await runTranscript(context, { target, transcript, tools, env: { CHART: path('./chart') } });
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Addon } from '@sheaf/api/virtualization/index';
import { AddonHost, addonsAreMissing, namespace } from './addon-host.ts';

const name = 'pages';
const toggles = 50;
/** Fifty in ten seconds; on a busy host they take longer. */
const rhythmMs = 200;

/** One wish: the answer to it, its warning, and what the status said before. */
interface Answer {
  readonly code: number;
  readonly warning: string;
  readonly addon: Addon;
}

async function wish({ client }: AddonHost, enabled: boolean): Promise<Answer> {
  const answer = await client.send({
    method: 'PATCH',
    target: `/apis/harvesterhci.io/v1beta1/namespaces/${namespace}/addons/${name}`,
    headers: { 'content-type': 'application/merge-patch+json' },
    body: JSON.stringify({ spec: { enabled } }),
  });
  const addon = JSON.parse(await answer.text()) as Addon;
  return { code: answer.status, warning: answer.headers['warning'] ?? '', addon };
}

const states = ['AddonEnabling', 'AddonDeploySuccessful', 'AddonUpdating', 'AddonDisabling', 'AddonDisabled'];

/** What of an answer is not clear: it is done, or says who is at work and that this wish follows, or what has failed. */
function unclear({ code, warning, addon }: Answer): readonly string[] {
  const { status: { status = '', conditions = [] } = {} } = addon;
  const messageOf = (type: string): string | undefined =>
    conditions.find((each) => each.type === type && each.status === 'True')?.message;
  const progress = messageOf('InProgress');
  const isDone = messageOf('Completed') !== undefined;
  const isTold =
    warning.includes(`in progress on addon ${name}: `) && warning.includes('this change follows it');
  const failure = messageOf('OperationFailed');
  const claims: readonly (readonly [isTrue: boolean, otherwise: string])[] = [
    [code === 200, `the answer is ${code}`],
    [states.includes(status), `the state is ${JSON.stringify(status)}`],
    [isDone === (progress === undefined), 'it is done and in progress, or neither'],
    [progress !== '', 'it is in progress, and nothing says with what'],
    [isTold === (progress !== undefined), `the warning is ${JSON.stringify(warning)}`],
    [failure === undefined, `it has failed: ${failure}`],
  ];
  return claims.filter(([isTrue]) => !isTrue).map(([, otherwise]) => otherwise);
}

/** The last of them is the one that is told. */
async function toggle(host: AddonHost, last: boolean): Promise<void> {
  const begun = performance.now();
  for (let count = 0; count < toggles; count++) {
    const answer = await wish(host, count % 2 === toggles % 2 ? !last : last);
    assert.deepEqual(unclear(answer), [], JSON.stringify({ ...answer, addon: answer.addon.status }));
    await pause(Math.max(0, begun + (count + 1) * rhythmMs - performance.now()));
  }
}

describe('fifty wishes in ten seconds, with the real Helm and real containers', {
  skip: addonsAreMissing ?? false,
}, () => {
  it('end in the last one, on or off, and each is answered clearly', () =>
    AddonHost.run(async (host) => {
      await host.make(name);
      await host.reaches(name, 'AddonDisabled');
      await toggle(host, true);
      await host.until('it is on, and serves', async () => (await host.page(name)) === 'first 1.0.0\n');
      await host.reaches(name, 'AddonDeploySuccessful');
      assert.deepEqual(await host.releases(), ['pages-1.0.0 deployed']);

      await toggle(host, false);
      await host.reaches(name, 'AddonDisabled');
      assert.deepEqual(await host.releases(), []);
      await host.until('nothing is left', async () => (await host.remains()).length === 0);
      assert.equal((await host.addon(name)).spec.enabled, false);
    }));
});

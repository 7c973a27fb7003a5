import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { runProgram } from '../program.ts';
import { openTarget, type Target } from '../target.ts';
import { buildGoProgram, type Tool } from '../tools.ts';
import { runJavascriptClient } from './javascript-client.ts';
import type { Scenario, StepResult } from './scenario.ts';

const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const scenarioFile = path('./scenario.yaml');
const scenario = parse(await readFile(scenarioFile, 'utf8')) as Scenario;
const newGo = await buildGoProgram('client-go-0.36', path('./go'));
// The older client is built only when asked for: it doubles the download and the compile time.
const oldGo: Tool =
  process.env['SHEAF_TEST_OLD_CLIENTS'] === 'yes'
    ? await buildGoProgram('client-go-0.32', path('./go'), 'go-0.32.mod')
    : { missing: 'set SHEAF_TEST_OLD_CLIENTS=yes to build client-go 0.32 too' };

const toolResults = [
  { step: 'http/2', result: { protocol: 'HTTP/2.0', tls13: true } },
  { step: 'leader election', result: { leaders: ['one', 'two'] } },
  { step: 'apply configurations', result: { replicas: 3, image: 'i:1', generation: 2 } },
  { step: 'metadata informer', result: { names: ['informed-0', 'informed-2'] } },
  { step: 'retry on conflict', result: { count: 8 } },
  { step: 'scale', result: { replicas: 7, selector: 'app=typed' } },
  { step: 'token', result: { refusal: 'Forbidden' } },
];

describe('client libraries', () => {
  let target: Target | undefined;
  before(async () => {
    target = await openTarget();
  });
  after(() => target?.stop());

  function kubeconfig(): string {
    assert.ok(target !== undefined);
    return target.kubeconfig;
  }

  test('@kubernetes/client-node', async () => {
    await inNamespace(kubeconfig(), async (namespace) => {
      checkScenario(await runJavascriptClient(kubeconfig(), scenarioFile, namespace));
    });
  });

  for (const [version, tool] of [
    ['0.36', newGo],
    ['0.32', oldGo],
  ] as const) {
    const skip = 'missing' in tool ? tool.missing : false;
    for (const mode of ['dynamic', 'typed-json', 'typed-protobuf']) {
      for (const watchList of ['true', 'false']) {
        test(`client-go ${version}, ${mode}, WatchList ${watchList}`, { skip }, async () => {
          await inNamespace(kubeconfig(), async (namespace) => {
            const args = ['--scenario', scenarioFile, '--mode', mode];
            checkScenario(await runGo(tool, { kubeconfig: kubeconfig(), namespace, args, watchList }));
          });
        });
      }
    }
    test(`client-go ${version}: leader election, apply configurations, metadata`, { skip }, async () => {
      await inNamespace(kubeconfig(), async (namespace) => {
        const results = await runGo(tool, {
          kubeconfig: kubeconfig(),
          namespace,
          args: [],
          watchList: 'true',
        });
        assert.deepEqual(results, toolResults);
      });
    });
  }
});

/** Each step's result is what the scenario expects; steps without an expectation only have to be there. */
function checkScenario(results: readonly StepResult[]): void {
  const expected = scenario.steps.map((step, index) => ({
    step: step.name,
    result: step.expect ?? results[index]?.result,
  }));
  assert.deepEqual(results, expected);
}

async function inNamespace(kubeconfig: string, use: (namespace: string) => Promise<void>): Promise<void> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const core = config.makeApiClient(CoreV1Api);
  const name = `clients-${randomBytes(3).toString('hex')}`;
  await core.createNamespace({ body: { metadata: { name } } });
  try {
    await use(name);
  } finally {
    await core.deleteNamespace({ name });
  }
}

interface GoRun {
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly args: readonly string[];
  readonly watchList: string;
}

async function runGo(tool: Tool, run: GoRun): Promise<readonly StepResult[]> {
  assert.ok('path' in tool);
  const args = ['--kubeconfig', run.kubeconfig, '--namespace', run.namespace, ...run.args];
  const env = { KUBE_FEATURE_WatchListClient: run.watchList };
  const result = await runProgram(tool.path, args, { env, timeout: 120_000 });
  assert.equal(result.code, 0, result.err);
  return result.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as StepResult);
}

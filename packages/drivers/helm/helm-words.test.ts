import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { helmFailures } from '@sheaf/ports';
import { failureOf, type Phase } from './failure-words.ts';
import { chartName, isNamed } from './foreign-release.ts';
import { readOrder } from './operation-order.ts';
import { planRelease } from './release-plan.ts';

type PlanFacts = Parameters<typeof planRelease>[1];

describe('planRelease', () => {
  const install = { kind: 'install', failurePolicy: 'reinstall' } as const;
  const facts = (status: string | undefined, more: Partial<PlanFacts> = {}): PlanFacts => ({
    status,
    isOfOrder: false,
    hasDeployed: false,
    wasCut: false,
    ...more,
  });
  const cases: readonly [string, Parameters<typeof planRelease>[0], PlanFacts, string][] = [
    ['there is none', install, facts(undefined), 'upgrade'],
    ['it is deployed by another order', install, facts('deployed'), 'upgrade'],
    ['it is deployed by this order', install, facts('deployed', { isOfOrder: true }), 'nothing'],
    ['a first operation was cut off', install, facts('pending-install'), 'clear'],
    ['a later operation was cut off', install, facts('pending-upgrade', { hasDeployed: true }), 'rollback'],
    ['going back was cut off', install, facts('pending-rollback', { hasDeployed: true }), 'rollback'],
    ['a later one, and nothing was ever deployed', install, facts('pending-upgrade'), 'clear'],
    ['uninstalling was cut off', install, facts('uninstalling'), 'clear'],
    ['its history was kept', install, facts('uninstalled'), 'clear'],
    ['it has failed, reinstall', install, facts('failed'), 'uninstall'],
    ['a first one was told to give up', install, facts('failed', { wasCut: true }), 'clear'],
    [
      'a later one was told to give up',
      install,
      facts('failed', { wasCut: true, hasDeployed: true }),
      'rollback',
    ],
    ['it has failed, retry', { kind: 'install', failurePolicy: 'retry' }, facts('failed'), 'upgrade'],
    ['it has failed, abort', { kind: 'install', failurePolicy: 'abort' }, facts('failed'), 'refuse'],
    ['it goes, and is not there', { kind: 'delete', failurePolicy: 'abort' }, facts(undefined), 'nothing'],
    [
      'it goes, and was cut off',
      { kind: 'delete', failurePolicy: 'abort' },
      facts('pending-upgrade'),
      'uninstall',
    ],
  ];
  for (const [name, order, release, step] of cases)
    it(`${name}: ${step}`, () => assert.equal(planRelease(order, release), step));
});

it('the name of a chart is found in what Helm tells, and in each place that names it', () => {
  assert.equal(chartName('apiVersion: v2\nname: "web-ui"\nversion: 1.0.0\n'), 'web-ui');
  const places = [
    'web',
    'https://charts.example/web-1.0.0.tgz',
    'oci://registry.example/charts/web',
    'other',
  ];
  assert.deepEqual(
    places.map((place) => isNamed(place, 'web')),
    [true, true, true, false],
  );
});

it('each cause has an exit code of its own', () => {
  assert.equal(new Set(helmFailures.map(({ exitCode }) => exitCode)).size, helmFailures.length);
});

describe('the words of Helm', () => {
  const cases: readonly [Phase, string, string][] = [
    [
      'fetch',
      'looks like "http://x" is not a valid chart repository or cannot be reached: Get "http://x/index.yaml": dial tcp: lookup x: no such host',
      'RepositoryUnreachable',
    ],
    [
      'fetch',
      'looks like "http://x" is not a valid chart repository or cannot be reached: failed to fetch http://x/index.yaml : 404 Not Found',
      'ChartNotFound',
    ],
    [
      'fetch',
      'looks like "https://x" is not a valid chart repository or cannot be reached: tls: failed to verify certificate: x509: certificate signed by unknown authority',
      'CertificateUntrusted',
    ],
    ['fetch', 'failed to fetch http://x/index.yaml : 401 Unauthorized', 'CredentialsRefused'],
    ['fetch', 'Head "https://x/v2/": http: server gave HTTP response to HTTPS client', 'HttpsNotSpoken'],
    [
      'fetch',
      'chart "web" matching 9.0.0 not found in source index. (try \'helm repo update\'): no chart version found for web-9.0.0',
      'ChartNotFound',
    ],
    ['fetch', 'write /run/small-1.0.0.tgz: no space left on device', 'DiskFull'],
    [
      'release',
      'create: failed to create: Secret "sh.helm.release.v1.big.v1" is invalid: data: Too long: may not be more than 1048576 bytes',
      'ReleaseTooLarge',
    ],
    [
      'release',
      'conflict occurred while applying object default/web apps/v1, Kind=Deployment: Apply failed with 1 conflict: conflict with "kubectl" with subresource "scale" using apps/v1: .spec.replicas',
      'FieldsOfOthers',
    ],
    ['release', '1 error occurred:\n\t* job web-pre-delete failed: BackoffLimitExceeded', 'HookFailed'],
    [
      'release',
      'failed pre-install: 1 error occurred:\n\t* job web-check failed: BackoffLimitExceeded',
      'HookFailed',
    ],
    [
      'release',
      'Unable to continue with install: ConfigMap "web" in namespace "default" exists and cannot be imported into the current release: invalid ownership metadata',
      'ObjectsOfOthers',
    ],
    ['release', 'create: failed to create: namespaces "nowhere" not found', 'NamespaceMissing'],
    ['release', 'another operation (install/upgrade/rollback) is in progress', 'ReleaseBusy'],
    ['release', 'cannot re-use a name that is still in use', 'ReleaseBusy'],
    ['release', 'release name check failed: cannot reuse a name that is still in use', 'ReleaseBusy'],
    [
      'release',
      'Kubernetes cluster unreachable: Get "https://127.0.0.1:1/version": dial tcp 127.0.0.1:1: connect: connection refused',
      'ApiUnreachable',
    ],
    [
      'release',
      "values don't meet the specifications of the schema(s) in the following chart(s):\nweb:\n- at '/replicas': got string, want integer",
      'ValuesInvalid',
    ],
    [
      'release',
      'template: web/templates/web.yaml:3:4: executing "web/templates/web.yaml" at <.Values.x.y>: nil pointer',
      'ValuesInvalid',
    ],
    [
      'release',
      'secrets is forbidden: User "system:serviceaccount:default:helm-web" cannot list resource "secrets"',
      'ApiRefused',
    ],
    ['release', 'timed out waiting for the condition', 'ReleaseTimedOut'],
    ['release', 'something new', 'HelmFailed'],
  ];
  for (const [phase, words, reason] of cases)
    it(`${reason}: ${words.slice(0, 60)}`, () => assert.equal(failureOf(phase, words).reason, reason));
});

describe('readOrder', () => {
  const variables = { NAME: 'web', CHART_NAMESPACE: 'default', CHART: 'web', REPO: 'http://x' };

  it('reads what klipper-helm is told', () => {
    const args = [
      'install',
      '--namespace',
      'apps',
      '--create-namespace',
      '--version',
      '1',
      '--server-side=auto',
      '--force-conflicts',
      '--set',
      'a=1',
      '--set-string',
      'b=x',
    ];
    const order = readOrder(args, { ...variables, TARGET_NAMESPACE: 'apps', TIMEOUT: '5m' });
    assert.deepEqual(order, {
      kind: 'install',
      name: 'web',
      targetNamespace: 'apps',
      chart: 'web',
      chartNamespace: 'default',
      repo: 'http://x',
      version: '',
      configHash: '',
      failurePolicy: 'reinstall',
      driver: 'secret',
      timeout: '5m',
      isTlsUnchecked: false,
      isPlainHttp: false,
      passesCredentials: false,
      createsNamespace: true,
      takesOwnership: false,
      serverSide: 'auto',
      forcesConflicts: true,
      set: ['--set', 'a=1', '--set-string', 'b=x'],
    });
  });

  const refused: readonly [readonly string[], Readonly<Record<string, string>>, RegExp][] = [
    [['install', '--server-side=maybe'], variables, /--server-side=maybe is not passed on/],
    [['template'], variables, /install or delete/],
    [['install', '--post-renderer', '/bin/sh'], variables, /--post-renderer is not passed on/],
    [['install', '--set-file', 'a=/etc/shadow'], variables, /--set-file is not passed on/],
    [['install'], { ...variables, CHART: '--debug' }, /CHART may not begin with a dash/],
    [['install'], { ...variables, NAME: '../x' }, /NAME is no name/],
    [['install'], { ...variables, TIMEOUT: 'soon' }, /no duration/],
    [['install'], { ...variables, FAILURE_POLICY: 'hope' }, /FAILURE_POLICY is one of/],
  ];
  for (const [args, given, words] of refused)
    it(`refuses ${args.join(' ')} ${words}`, () => assert.throws(() => readOrder(args, given), words));
});

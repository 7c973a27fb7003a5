import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Container, Pod } from '@sheaf/api/workload/index';
import { readImageName } from '@sheaf/ports';
import { environmentOf, expand } from './environment.ts';

const pod: Pod = {
  metadata: { namespace: 'red', name: 'web-0', uid: 'u', labels: { app: 'web', tier: 'a "b"' } },
  spec: { containers: [], nodeName: 'n', serviceAccountName: 'default' },
};
const base = {
  pod,
  data: {
    configMap: (name: string) => (name === 'config' ? { COLOR: 'blue', size: '3' } : undefined),
    secret: (name: string) => (name === 'secret' ? { password: 'x$y' } : undefined),
  },
  services: { WEB_SERVICE_HOST: '10.43.0.9' },
  hostAddress: '192.0.2.1',
  podAddresses: ['10.42.0.5'],
  allocatable: { cpu: '2', memory: '4Gi' },
};

function environment(container: Partial<Container>): ReturnType<typeof environmentOf> {
  return environmentOf({ ...base, container: { name: 'c', ...container } });
}

describe('the environment of a container', () => {
  it('comes from services, maps, secrets, fields and resources, the later ones winning', () => {
    const limits = { memory: '64Mi' };
    const field = (fieldPath: string): object => ({ valueFrom: { fieldRef: { fieldPath } } });
    const resource = (of: string, divisor: string): object => ({
      valueFrom: { resourceFieldRef: { resource: of, divisor } },
    });
    const env = [
      { name: 'COLOR', value: 'red' },
      { name: 'PASSWORD', valueFrom: { secretKeyRef: { name: 'secret', key: 'password' } } },
      { name: 'URL', value: 'http://$(WEB_SERVICE_HOST)/$(COLOR)/$(UNKNOWN)/$$(COLOR)' },
      { name: 'NAME', ...field('metadata.name') },
      { name: 'APP', ...field("metadata.labels['app']") },
      { name: 'IP', ...field('status.podIP') },
      { name: 'MEMORY', ...resource('limits.memory', '1Mi') },
      { name: 'CPU', ...resource('limits.cpu', '1m') },
      { name: 'NONE', valueFrom: { configMapKeyRef: { name: 'nowhere', key: 'k', optional: true } } },
    ];
    assert.deepEqual(
      environment({
        env,
        envFrom: [{ configMapRef: { name: 'config' }, prefix: 'P_' }],
        resources: { limits },
      }),
      {
        values: {
          WEB_SERVICE_HOST: '10.43.0.9',
          P_COLOR: 'blue',
          P_size: '3',
          COLOR: 'red',
          PASSWORD: 'x$y',
          URL: 'http://10.43.0.9/red/$(UNKNOWN)/$(COLOR)',
          NAME: 'web-0',
          APP: 'web',
          IP: '10.42.0.5',
          MEMORY: '64',
          CPU: '2000',
        },
      },
    );
  });

  it('says what is missing', () => {
    const missing = (source: object): unknown => environment({ env: [{ name: 'X', valueFrom: source }] });
    assert.deepEqual(
      [
        missing({ configMapKeyRef: { name: 'nowhere', key: 'k' } }),
        missing({ secretKeyRef: { name: 'secret', key: 'k' } }),
        environment({ envFrom: [{ secretRef: { name: 'nowhere' } }] }),
        missing({ fileKeyRef: { volumeName: 'v', path: 'p', key: 'k' } }),
      ],
      [
        { problem: 'configmap "nowhere" not found' },
        { problem: "couldn't find key k in Secret red/secret" },
        { problem: 'secret "nowhere" not found in namespace red' },
        { problem: 'X comes from a file, which is not read here: use configMapKeyRef or secretKeyRef' },
      ],
    );
  });

  it('expands references once', () => {
    assert.equal(expand('$(A)$(B)', { A: '$(B)', B: 'b' }), '$(B)b');
    assert.equal(expand('$A $() $$', {}), '$A $() $');
  });
});

it('names of images are completed as registries know them', () => {
  const name = (text: string): unknown => readImageName(text)?.reference;
  const digest = `sha256:${'a'.repeat(64)}`;
  assert.deepEqual(
    [
      'nginx',
      'library/nginx:1',
      'quay.io/a/b',
      'localhost:5000/x:y',
      `a/b@${digest}`,
      'a/b/c',
      'UPPER',
      'a b',
      '',
      'x:',
    ].map(name),
    [
      'docker.io/library/nginx:latest',
      'docker.io/library/nginx:1',
      'quay.io/a/b:latest',
      'localhost:5000/x:y',
      `docker.io/a/b@${digest}`,
      'docker.io/a/b/c:latest',
      undefined,
      undefined,
      undefined,
      undefined,
    ],
  );
});

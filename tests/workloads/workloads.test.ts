import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Pod, PodTemplateSpec } from '@sheaf/api/workload/index';
import { resources } from '@sheaf/client';
import { containersAreMissing, guestTag, type WorkloadHost, withWorkloadHost } from './workload-host.ts';

const labels = { app: 'web' };

function template(spec: Partial<PodTemplateSpec['spec']['containers'][number]>): PodTemplateSpec {
  return {
    metadata: { labels },
    spec: {
      terminationGracePeriodSeconds: 5,
      volumes: [{ name: 'pages', configMap: { name: 'pages' } }],
      containers: [{ name: 'web', image: guestTag, imagePullPolicy: 'Never', ...spec }],
    },
  };
}

const server = {
  command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/pages'],
  ports: [{ name: 'http', containerPort: 8080 }],
  readinessProbe: { httpGet: { path: '/index.html', port: 'http' }, periodSeconds: 1 },
  volumeMounts: [{ name: 'pages', mountPath: '/pages' }],
};

async function pageOf({ status }: Pod): Promise<string> {
  return (await fetch(`http://${status?.podIP}:8080/index.html`)).text();
}

async function ready(host: WorkloadHost): Promise<readonly Pod[]> {
  const pods = await host.pods();
  return pods.filter(
    ({ metadata, status }) =>
      metadata.deletionTimestamp === undefined &&
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  );
}

describe('workloads on this host', { skip: containersAreMissing ?? false }, () => {
  it('a deployment serves pages, follows its template, and mends itself; a job ends', () =>
    withWorkloadHost(async (host) => {
      const { client, until } = host;
      const place = { namespace: 'default', name: 'web' };
      await client.create(resources.configMaps, {
        metadata: { namespace: 'default', name: 'pages' },
        data: { 'index.html': 'first\n' },
      });
      await client.create(resources.services, {
        metadata: place,
        spec: { selector: labels, ports: [{ port: 80, targetPort: 'http' }] },
      });
      await client.create(resources.deployments, {
        metadata: place,
        spec: { replicas: 2, selector: { matchLabels: labels }, template: template(server) },
      });
      await until(
        async () => (await client.get(resources.deployments, place)).status?.availableReplicas === 2,
      );
      for (const pod of await host.pods()) assert.equal(await pageOf(pod), 'first\n');
      await until(async () => {
        const { items } = await client.list(resources.endpointSlices, { namespace: 'default' });
        return (
          items.flatMap(({ endpoints }) => endpoints).filter(({ conditions }) => conditions?.ready).length ===
          2
        );
      });

      const [victim] = await host.pods();
      await host.killFirst(victim?.metadata.name ?? '');
      await until(async () => {
        const { status } = await client.get(resources.pods, {
          namespace: 'default',
          name: victim?.metadata.name ?? '',
        });
        const [web] = status?.containerStatuses ?? [];
        return web?.restartCount === 1 && web.ready && web.lastState?.terminated?.exitCode === 137;
      });

      const env = [{ name: 'VERSION', value: '2' }];
      await client.patch(resources.deployments, place, {
        type: 'strategic',
        body: { spec: { template: { spec: { containers: [{ name: 'web', env }] } } } },
      });
      await until(async () => {
        const pods = await ready(host);
        const { status } = await client.get(resources.deployments, place);
        return (
          pods.length === 2 &&
          status?.updatedReplicas === 2 &&
          status.replicas === 2 &&
          pods.every(({ spec }) => spec.containers[0]?.env)
        );
      });

      await client.create(resources.jobs, {
        metadata: { namespace: 'default', name: 'work' },
        spec: {
          completions: 2,
          parallelism: 2,
          template: {
            spec: {
              restartPolicy: 'Never',
              containers: [
                { name: 'work', image: guestTag, imagePullPolicy: 'Never', args: ['print done', 'exit 0'] },
              ],
            },
          },
        },
      });
      await until(
        async () =>
          (await client.get(resources.jobs, { namespace: 'default', name: 'work' })).status?.succeeded === 2,
      );

      await client.delete(resources.deployments, place, { propagationPolicy: 'Background' });
      await client.deleteCollection(resources.replicaSets, { namespace: 'default' });
      await client.deleteCollection(resources.jobs, { namespace: 'default' });
      await client.deleteCollection(resources.pods, { namespace: 'default' });
      await until(async () => (await host.pods()).length === 0 && (await host.containerCount()) === 0);
    }));
});

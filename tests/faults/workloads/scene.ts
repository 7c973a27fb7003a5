import { guestTag } from '../../workloads/workload-host.ts';

/** A server of pages that says when it can be asked. */
function pageServer(version: string): object {
  return {
    name: 'web',
    image: guestTag,
    imagePullPolicy: 'Never',
    command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'],
    env: [{ name: 'VERSION', value: version }],
    // A host with much else to do takes its time to answer.
    readinessProbe: { httpGet: { path: '/index.html', port: 8080 }, periodSeconds: 1, timeoutSeconds: 20 },
    livenessProbe: { exec: { command: ['/bin/sh', '-c', ':'] }, periodSeconds: 5, timeoutSeconds: 60 },
  };
}

function template(app: string, container: object, further: object = {}): object {
  return {
    metadata: { labels: { app } },
    spec: { terminationGracePeriodSeconds: 1, containers: [container], ...further },
  };
}

/** Ends by itself. */
function worker(seconds: number): object {
  return {
    name: 'work',
    image: guestTag,
    imagePullPolicy: 'Never',
    command: ['/bin/sh', '-c', `sleep ${seconds}; echo done`],
  };
}

export function deployment(version: string): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'web' } },
      template: template('web', pageServer(version)),
    },
  };
}

/** Each pod writes its name into its volume once for each of its lives. */
export function statefulSet(replicas: number): object {
  const container = {
    name: 'db',
    image: guestTag,
    imagePullPolicy: 'Never',
    command: ['/bin/sh', '-c', 'hostname >>/data/lives; sleep 100000'],
    volumeMounts: [{ name: 'data', mountPath: '/data' }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db' },
    spec: {
      serviceName: 'db',
      replicas,
      selector: { matchLabels: { app: 'db' } },
      template: template('db', container),
      volumeClaimTemplates: [
        {
          metadata: { name: 'data' },
          spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '16Mi' } } },
        },
      ],
    },
  };
}

export const daemonSet: object = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: template('agent', { ...worker(100_000), name: 'agent' }),
  },
};

const jobSpec = {
  completions: 2,
  parallelism: 2,
  template: template('work', worker(1), { restartPolicy: 'Never' }),
};

export function job(name: string): object {
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name }, spec: jobSpec };
}

export const cronJob: object = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'tick' },
  spec: { schedule: '* * * * *', successfulJobsHistoryLimit: 1, jobTemplate: { spec: jobSpec } },
};

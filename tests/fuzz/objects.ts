import type { JsonObject } from '@sheaf/base';

/** Objects that the server takes as they are, and the collections that they belong to. */
export const objects: readonly (readonly [collection: string, object: JsonObject])[] = [
  [
    '/api/v1/namespaces/fuzz/configmaps',
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', labels: { x: 'y' }, annotations: { n: 'v' }, finalizers: ['example.com/a'] },
      data: { k: 'v' },
      binaryData: { b: 'AAEC' },
    },
  ],
  [
    '/api/v1/namespaces/fuzz/secrets',
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' }, stringData: { k: 'v' }, type: 'Opaque' },
  ],
  [
    '/api/v1/namespaces/fuzz/services',
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'a' },
      spec: { ports: [{ port: 80, targetPort: 'http', protocol: 'TCP' }], selector: { a: 'b' } },
    },
  ],
  [
    '/api/v1/namespaces/fuzz/pods',
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'a' },
      spec: {
        containers: [
          {
            name: 'c',
            image: 'i',
            resources: { limits: { cpu: '500m', memory: '1Gi' } },
            ports: [{ containerPort: 80 }],
            env: [{ name: 'E', value: 'v' }],
          },
        ],
        volumes: [{ name: 'v', emptyDir: {} }],
        tolerations: [{ key: 'k', operator: 'Exists' }],
      },
    },
  ],
  [
    '/apis/apps/v1/namespaces/fuzz/deployments',
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'a' },
      spec: {
        replicas: 1,
        selector: {
          matchLabels: { a: 'b' },
          matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }],
        },
        strategy: { rollingUpdate: { maxSurge: '25%', maxUnavailable: 1 } },
        template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
      },
    },
  ],
  [
    '/apis/rbac.authorization.k8s.io/v1/clusterroles',
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'a' },
      rules: [{ apiGroups: ['*'], resources: ['*'], verbs: ['get'] }],
    },
  ],
  [
    '/apis/batch/v1/namespaces/fuzz/cronjobs',
    {
      apiVersion: 'batch/v1',
      kind: 'CronJob',
      metadata: { name: 'a' },
      spec: {
        schedule: '*/5 * * * *',
        jobTemplate: {
          spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
        },
      },
    },
  ],
  [
    '/apis/autoscaling/v1/namespaces/fuzz/horizontalpodautoscalers',
    {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      metadata: { name: 'a' },
      spec: { maxReplicas: 3, scaleTargetRef: { kind: 'Deployment', name: 'a', apiVersion: 'apps/v1' } },
    },
  ],
  [
    '/apis/events.k8s.io/v1/namespaces/fuzz/events',
    {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { name: 'a' },
      eventTime: '2026-01-01T00:00:00.000000Z',
      reportingController: 'x.io/y',
      reportingInstance: 'z',
      action: 'A',
      reason: 'R',
      type: 'Normal',
      regarding: { kind: 'Pod', name: 'p', namespace: 'fuzz' },
    },
  ],
  [
    '/apis/apiextensions.k8s.io/v1/customresourcedefinitions',
    {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'foos.fuzz.example.com' },
      spec: {
        group: 'fuzz.example.com',
        scope: 'Namespaced',
        names: { plural: 'foos', kind: 'Foo' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: {
                    type: 'object',
                    properties: {
                      a: { type: 'string', pattern: '^a+$', maxLength: 9 },
                      n: { type: 'integer', minimum: 1, default: 2 },
                    },
                    'x-kubernetes-validations': [{ rule: 'self.n > 0 && self.a.matches("a*")' }],
                  },
                },
              },
            },
            additionalPrinterColumns: [{ name: 'A', type: 'string', jsonPath: '.spec.a' }],
          },
        ],
      },
    },
  ],
  [
    '/apis/example.com/v1/namespaces/fuzz/widgets',
    {
      apiVersion: 'example.com/v1',
      kind: 'Widget',
      metadata: { name: 'a' },
      spec: { name: 'abc', replicas: 2, list: [{ key: 'a', value: 1 }], any: { deep: [1, { x: null }] } },
    },
  ],
  [
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: { verb: 'get', resource: 'pods', fieldSelector: { rawSelector: 'a=b' } } },
    },
  ],
  [
    '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies',
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'a' },
      spec: {
        matchConstraints: {
          resourceRules: [
            {
              apiGroups: ['none.example.com'],
              apiVersions: ['*'],
              operations: ['CREATE'],
              resources: ['nothing'],
            },
          ],
        },
        validations: [{ expression: 'object.metadata.name.size() < 5' }],
        variables: [{ name: 'v', expression: '1 + 1' }],
      },
    },
  ],
];

import type { JsonSchema, KubeObject } from '@sheaf/api';
import type { JsonObject } from '@sheaf/base';
import { defaultDefinition } from './definition.ts';

/** Definitions and objects in the shape of real ecosystems' ones, for tests. */

const text: JsonSchema = { type: 'string' };

function conditions(): JsonSchema {
  return {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
    items: {
      type: 'object',
      required: ['type', 'status'],
      properties: {
        type: text,
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        reason: text,
        message: text,
        lastTransitionTime: { type: 'string', format: 'date-time' },
        observedGeneration: { type: 'integer', format: 'int64' },
      },
    },
  };
}

interface Shape {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
  readonly schema: JsonSchema;
  readonly version?: JsonObject;
}

/** A definition with one version, `v1`, and its defaults. */
export function define({ group, plural, kind, schema, version = {} }: Shape): KubeObject {
  const crd: KubeObject = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind },
      versions: [
        { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...version },
      ],
    },
  };
  defaultDefinition(crd);
  return crd;
}

export const certificateSchema: JsonSchema = {
  type: 'object',
  required: ['spec'],
  properties: {
    apiVersion: text,
    kind: text,
    metadata: { type: 'object' },
    spec: {
      type: 'object',
      required: ['secretName', 'issuerRef'],
      properties: {
        secretName: {
          type: 'string',
          minLength: 1,
          maxLength: 253,
          pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        },
        dnsNames: { type: 'array', items: text },
        duration: { type: 'string', format: 'duration' },
        isCA: { type: 'boolean', default: false },
        usages: {
          type: 'array',
          items: { type: 'string', enum: ['server auth', 'client auth', 'digital signature'] },
        },
        privateKey: {
          type: 'object',
          default: {},
          properties: {
            algorithm: { type: 'string', enum: ['RSA', 'ECDSA'], default: 'RSA' },
            size: { type: 'integer', minimum: 256, maximum: 8192 },
          },
        },
        issuerRef: {
          type: 'object',
          required: ['name'],
          properties: { name: text, kind: { type: 'string', default: 'Issuer' }, group: text },
        },
      },
    },
    status: { type: 'object', properties: { conditions: conditions(), revision: { type: 'integer' } } },
  },
};

export const certificate = define({
  group: 'certs.example.com',
  plural: 'certificates',
  kind: 'Certificate',
  schema: certificateSchema,
  version: {
    subresources: { status: {} },
    selectableFields: [{ jsonPath: '.spec.secretName' }],
    additionalPrinterColumns: [
      { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
      { name: 'Secret', type: 'string', jsonPath: '.spec.secretName' },
      { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    ],
  },
});

export const certificateObject: JsonObject = {
  apiVersion: 'certs.example.com/v1',
  kind: 'Certificate',
  metadata: { name: 'web', namespace: 'default', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: {
    secretName: 'web-tls',
    dnsNames: ['web.example.com'],
    duration: '2160h',
    isCA: false,
    usages: ['server auth'],
    privateKey: { algorithm: 'ECDSA', size: 256 },
    issuerRef: { name: 'ca', kind: 'ClusterIssuer' },
  },
  status: { conditions: [{ type: 'Ready', status: 'True' }], revision: 1 },
};

const quantity: JsonSchema = {
  'x-kubernetes-int-or-string': true,
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  pattern:
    '^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$',
};

export const virtualMachine = define({
  group: 'machines.example.com',
  plural: 'virtualmachines',
  kind: 'VirtualMachine',
  schema: {
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        required: ['template'],
        oneOf: [{ required: ['running'] }, { required: ['runStrategy'] }],
        properties: {
          running: { type: 'boolean', nullable: true },
          runStrategy: { type: 'string', enum: ['Always', 'Halted', 'Manual'] },
          dataVolumeTemplates: {
            type: 'array',
            items: {
              type: 'object',
              'x-kubernetes-embedded-resource': true,
              'x-kubernetes-preserve-unknown-fields': true,
            },
          },
          template: {
            type: 'object',
            properties: {
              metadata: { type: 'object', nullable: true, 'x-kubernetes-preserve-unknown-fields': true },
              spec: {
                type: 'object',
                properties: {
                  cpu: {
                    type: 'object',
                    properties: { cores: { type: 'integer', format: 'int32', minimum: 1 } },
                  },
                  memory: quantity,
                  disks: {
                    type: 'array',
                    'x-kubernetes-list-type': 'map',
                    'x-kubernetes-list-map-keys': ['name'],
                    items: {
                      type: 'object',
                      required: ['name'],
                      properties: { name: text, bootOrder: { type: 'integer', minimum: 1 } },
                    },
                  },
                },
              },
            },
          },
        },
      },
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  },
  version: { subresources: { status: {} } },
});

export const route = define({
  group: 'routes.example.com',
  plural: 'httproutes',
  kind: 'HTTPRoute',
  schema: {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        properties: {
          hostnames: {
            type: 'array',
            maxItems: 16,
            items: {
              type: 'string',
              minLength: 1,
              maxLength: 253,
              pattern: '^(\\*\\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
            },
          },
          rules: {
            type: 'array',
            minItems: 1,
            maxItems: 16,
            default: [{ matches: [{ path: { type: 'PathPrefix', value: '/' } }] }],
            items: {
              type: 'object',
              properties: {
                matches: {
                  type: 'array',
                  maxItems: 64,
                  items: {
                    type: 'object',
                    properties: {
                      path: {
                        type: 'object',
                        default: { type: 'PathPrefix', value: '/' },
                        properties: {
                          type: { type: 'string', enum: ['Exact', 'PathPrefix'], default: 'PathPrefix' },
                          value: { type: 'string', default: '/', maxLength: 1024 },
                        },
                      },
                    },
                  },
                },
                weights: { type: 'object', additionalProperties: { type: 'integer', minimum: 0 } },
              },
            },
          },
        },
      },
    },
  },
});

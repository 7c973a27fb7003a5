import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonSchema, ValidationRule } from '@sheaf/api';
import type { JsonValue } from '@sheaf/base';
import { compileSchemaRules } from './rules/compile-rules.ts';
import { validateRules } from './rules/validate-rules.ts';

/** Rules in the manner of widely used CRDs: each must compile, accept `good` and refuse `bad`. */
interface Sample {
  readonly schema: JsonSchema;
  readonly rules: readonly (string | ValidationRule)[];
  readonly good: JsonValue;
  readonly bad: readonly (readonly [value: JsonValue, message: string])[];
  readonly old?: JsonValue;
}

const text: JsonSchema = { type: 'string' };
const name: JsonSchema = { type: 'string', maxLength: 253 };
const integer: JsonSchema = { type: 'integer' };

function object(properties: Record<string, JsonSchema>, rest: JsonSchema = {}): JsonSchema {
  return { type: 'object', properties, ...rest };
}

function list(items: JsonSchema, maxItems: number): JsonSchema {
  return { type: 'array', items, maxItems };
}

const listener = object({
  name,
  port: integer,
  protocol: name,
  hostname: name,
  tls: object({
    mode: { type: 'string', enum: ['Terminate', 'Passthrough'] },
    certificateRefs: list(object({ name }), 64),
  }),
});

const samples: Readonly<Record<string, Sample>> = {
  'gateway listeners': {
    schema: {
      ...list(listener, 64),
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    rules: [
      {
        message: 'tls must not be specified for protocols HTTP, TCP and UDP',
        rule: "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
      },
      {
        message: 'tls mode must be Terminate for protocol HTTPS',
        rule: "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
      },
      {
        message: 'hostname must not be specified for TCP',
        rule: "self.all(l, l.protocol in ['TCP', 'UDP'] ? (!has(l.hostname) || l.hostname == '') : true)",
      },
      {
        message: 'Listener name must be unique within the Gateway',
        rule: 'self.all(l1, self.exists_one(l2, l1.name == l2.name))',
      },
      {
        message: 'Combination of port, protocol and hostname must be unique',
        rule: 'self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))',
      },
    ],
    good: [
      { name: 'a', port: 80, protocol: 'HTTP' },
      { name: 'b', port: 443, protocol: 'HTTPS', hostname: 'x.y', tls: { mode: 'Terminate' } },
    ],
    bad: [
      [
        [{ name: 'a', port: 80, protocol: 'HTTP', tls: {} }],
        'tls must not be specified for protocols HTTP, TCP and UDP',
      ],
      [
        [{ name: 'a', port: 1, protocol: 'HTTPS', tls: { mode: 'Passthrough' } }],
        'tls mode must be Terminate for protocol HTTPS',
      ],
      [[{ name: 'a', port: 1, protocol: 'TCP', hostname: 'x' }], 'hostname must not be specified for TCP'],
    ],
  },
  'http route filter': {
    schema: object({
      type: text,
      requestRedirect: object({
        scheme: text,
        path: object({ type: text, replaceFullPath: text, replacePrefixMatch: text }),
      }),
      urlRewrite: object({ hostname: text }),
      backendRefs: list(object({ group: name, kind: name, name, port: integer }), 16),
    }),
    rules: [
      {
        message: 'filter.requestRedirect must be nil if the filter.type is not RequestRedirect',
        rule: "!(has(self.requestRedirect) && self.type != 'RequestRedirect')",
      },
      {
        message: 'filter.urlRewrite must be specified for URLRewrite filter.type',
        rule: "!(!has(self.urlRewrite) && self.type == 'URLRewrite')",
      },
      {
        message: "replaceFullPath must be specified when type is set to 'ReplaceFullPath'",
        rule: "has(self.requestRedirect) && has(self.requestRedirect.path) && self.requestRedirect.path.type == 'ReplaceFullPath' ? has(self.requestRedirect.path.replaceFullPath) : true",
      },
      {
        message: 'Must have port for Service reference',
        rule: "!has(self.backendRefs) || self.backendRefs.all(r, (size(r.group) == 0 && r.kind == 'Service') ? has(r.port) : true)",
      },
    ],
    good: { type: 'RequestRedirect', requestRedirect: { scheme: 'https' } },
    bad: [
      [
        { type: 'X', requestRedirect: {} },
        'filter.requestRedirect must be nil if the filter.type is not RequestRedirect',
      ],
      [{ type: 'URLRewrite' }, 'filter.urlRewrite must be specified for URLRewrite filter.type'],
      [
        { type: 'X', backendRefs: [{ group: '', kind: 'Service', name: 'n' }] },
        'Must have port for Service reference',
      ],
    ],
  },
  'path match': {
    schema: object({ type: { ...text, default: 'PathPrefix' }, value: { ...text, maxLength: 1024 } }),
    rules: [
      {
        message: "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']",
        rule: "(self.type in ['Exact', 'PathPrefix']) ? self.value.startsWith('/') : true",
      },
      {
        message: "must not contain '//'",
        rule: "(self.type in ['Exact', 'PathPrefix']) ? !self.value.contains('//') : true",
      },
      {
        message: 'must only contain valid characters',
        rule: '(self.type in [\'Exact\', \'PathPrefix\']) ? self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&\'()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true',
      },
    ],
    good: { type: 'Exact', value: '/a/b%20c' },
    bad: [
      [
        { type: 'Exact', value: 'a' },
        "value must be an absolute path and start with '/' when type one of ['Exact', 'PathPrefix']",
      ],
      [{ type: 'PathPrefix', value: '/a//b' }, "must not contain '//'"],
      [{ type: 'Exact', value: '/a b' }, 'must only contain valid characters'],
    ],
  },
  'node pool requirements': {
    schema: list(
      object({
        key: { ...name, pattern: '^.*$' },
        operator: name,
        values: list({ ...text, maxLength: 63 }, 50),
        minValues: integer,
      }),
      30,
    ),
    rules: [
      {
        message: "requirements with operator 'In' must have a value defined",
        rule: "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
      },
      {
        message: "requirements operator 'Gt' or 'Lt' must have a single positive integer value",
        rule: "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
      },
      {
        message:
          "requirements with 'minValues' must have at least that many values specified in the 'values' field",
        rule: "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)",
      },
      {
        message: 'label domain "kubernetes.io" is restricted',
        rule: "self.all(x, x.key in ['kubernetes.io/arch', 'kubernetes.io/os'] || x.key.find('^([^/]+)').endsWith('node.kubernetes.io') || !x.key.find('^([^/]+)').endsWith('kubernetes.io'))",
      },
      { message: 'label "hostname" is restricted', rule: "self.all(x, x.key != 'kubernetes.io/hostname')" },
    ],
    good: [
      { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
      { key: 'a/b', operator: 'Gt', values: ['5'] },
    ],
    bad: [
      [
        [{ key: 'a', operator: 'In', values: [] }],
        "requirements with operator 'In' must have a value defined",
      ],
      [
        [{ key: 'a', operator: 'Gt', values: ['-1'] }],
        "requirements operator 'Gt' or 'Lt' must have a single positive integer value",
      ],
      [
        [{ key: 'x.kubernetes.io/y', operator: 'Exists', values: [] }],
        'label domain "kubernetes.io" is restricted',
      ],
    ],
  },
  'disruption budgets': {
    schema: object({
      budgets: list(
        object({
          schedule: text,
          duration: text,
          nodes: { type: 'string', maxLength: 4 },
          reasons: list(name, 50),
        }),
        50,
      ),
      consolidateAfter: text,
    }),
    rules: [
      {
        message: "'schedule' must be set with 'duration'",
        rule: 'self.budgets.all(x, has(x.schedule) == has(x.duration))',
      },
    ],
    good: { budgets: [{ nodes: '10%' }, { schedule: '@daily', duration: '1h' }] },
    bad: [[{ budgets: [{ schedule: '@daily' }] }, "'schedule' must be set with 'duration'"]],
  },
  'node class': {
    schema: object({
      role: text,
      instanceProfile: text,
      amiSelectorTerms: list(
        object({
          id: name,
          alias: { ...text, maxLength: 30 },
          name,
          tags: { type: 'object', additionalProperties: name, maxProperties: 20 },
        }),
        30,
      ),
      tags: { type: 'object', additionalProperties: text },
      kubelet: object({
        evictionSoft: { type: 'object', additionalProperties: text, maxProperties: 10 },
        evictionSoftGracePeriod: { type: 'object', additionalProperties: text, maxProperties: 10 },
        imageGCHighThresholdPercent: integer,
        imageGCLowThresholdPercent: integer,
      }),
      volumeSize: { 'x-kubernetes-int-or-string': true, pattern: '^.*$' },
    }),
    rules: [
      {
        message: 'must specify exactly one of [role, instanceProfile]',
        rule: '(has(self.role) && !has(self.instanceProfile)) || (!has(self.role) && has(self.instanceProfile))',
      },
      {
        message: 'changing from instanceProfile to role is not supported',
        rule: '(has(oldSelf.role) && has(self.role)) || (has(oldSelf.instanceProfile) && has(self.instanceProfile))',
      },
      {
        message: "'id' is mutually exclusive, cannot be set with a combination of other fields",
        rule: '!has(self.amiSelectorTerms) || !self.amiSelectorTerms.exists(x, has(x.id) && (has(x.alias) || has(x.tags) || has(x.name)))',
      },
      {
        message: 'family is not supported',
        rule: "!has(self.amiSelectorTerms) || self.amiSelectorTerms.all(x, has(x.alias) ? x.alias.find('^[^@]+') in ['al2', 'al2023', 'bottlerocket'] : true)",
      },
      {
        message: 'tag contains a restricted tag matching kubernetes.io/cluster/',
        rule: "!has(self.tags) || self.tags.all(k, !k.startsWith('kubernetes.io/cluster'))",
      },
      {
        message: 'evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod',
        rule: 'has(self.kubelet) && has(self.kubelet.evictionSoft) ? self.kubelet.evictionSoft.all(e, (e in self.kubelet.evictionSoftGracePeriod)) : true',
      },
      {
        message: 'imageGCHighThresholdPercent must be greater than imageGCLowThresholdPercent',
        rule: 'has(self.kubelet) && has(self.kubelet.imageGCHighThresholdPercent) && has(self.kubelet.imageGCLowThresholdPercent) ? self.kubelet.imageGCHighThresholdPercent > self.kubelet.imageGCLowThresholdPercent : true',
      },
      {
        message: 'volume is too large',
        rule: "!has(self.volumeSize) || (type(self.volumeSize) == int ? self.volumeSize < 100 : quantity(self.volumeSize).isLessThan(quantity('100Gi')))",
      },
    ],
    good: {
      role: 'r',
      amiSelectorTerms: [{ alias: 'al2023@latest' }, { id: 'ami-1' }],
      tags: { a: 'b' },
      volumeSize: '20Gi',
    },
    old: { role: 'q' },
    bad: [
      [{ role: 'r', instanceProfile: 'p' }, 'must specify exactly one of [role, instanceProfile]'],
      [{ instanceProfile: 'p' }, 'changing from instanceProfile to role is not supported'],
      [
        { role: 'r', amiSelectorTerms: [{ id: 'x', name: 'y' }] },
        "'id' is mutually exclusive, cannot be set with a combination of other fields",
      ],
      [
        { role: 'r', tags: { 'kubernetes.io/cluster/x': 'owned' } },
        'tag contains a restricted tag matching kubernetes.io/cluster/',
      ],
      [
        { role: 'r', kubelet: { evictionSoft: { a: '1' }, evictionSoftGracePeriod: {} } },
        'evictionSoft OwnerKey does not have a matching evictionSoftGracePeriod',
      ],
      [{ role: 'r', volumeSize: '200Gi' }, 'volume is too large'],
    ],
  },
  'certificate and issuer': {
    schema: object({
      commonName: { ...text, maxLength: 64 },
      dnsNames: list(name, 100),
      duration: { ...text, format: 'duration' },
      renewBefore: { ...text, format: 'duration' },
      secretName: name,
      privateKey: object({ algorithm: text, size: integer }),
      notAfter: { ...text, format: 'date-time' },
    }),
    rules: [
      {
        message: 'at least one name is needed',
        rule: "has(self.commonName) && self.commonName != '' || has(self.dnsNames) && size(self.dnsNames) > 0",
      },
      {
        message: 'renewBefore must be less than duration',
        rule: '!has(self.renewBefore) || !has(self.duration) || self.renewBefore < self.duration',
      },
      {
        message: 'duration must be at least 1h',
        rule: "!has(self.duration) || self.duration >= duration('1h')",
      },
      {
        message: 'ECDSA keys have 256, 384 or 521 bits',
        rule: "!has(self.privateKey) || self.privateKey.algorithm != 'ECDSA' || self.privateKey.size in [256, 384, 521]",
      },
      {
        message: 'secretName is not a name',
        rule: '!format.dns1123Subdomain().validate(self.secretName).hasValue()',
      },
      {
        message: 'notAfter is long ago',
        rule: "!has(self.notAfter) || self.notAfter > timestamp('2000-01-01T00:00:00Z')",
      },
      {
        messageExpression: '"secretName may not change from " + oldSelf.secretName',
        rule: 'self.secretName == oldSelf.secretName',
      },
    ],
    old: { secretName: 'tls' },
    good: {
      commonName: 'x',
      secretName: 'tls',
      duration: '2160h',
      renewBefore: '360h',
      notAfter: '2030-01-01T00:00:00Z',
    },
    bad: [
      [{ secretName: 'tls' }, 'at least one name is needed'],
      [
        { secretName: 'tls', dnsNames: ['a'], duration: '2h', renewBefore: '3h' },
        'renewBefore must be less than duration',
      ],
      [
        { secretName: 'tls', dnsNames: ['a'], privateKey: { algorithm: 'ECDSA', size: 1 } },
        'ECDSA keys have 256, 384 or 521 bits',
      ],
      [{ secretName: 'other', dnsNames: ['a'] }, 'secretName may not change from tls'],
    ],
  },
  'network attachments': {
    schema: object({
      subnets: list({ ...text, maxLength: 43 }, 2),
      podIPs: list({ ...text, maxLength: 45 }, 2),
      joinSubnets: list({ ...text, maxLength: 43 }, 2),
      mtu: integer,
    }),
    rules: [
      { message: 'subnets must be CIDRs', rule: 'self.subnets.all(s, isCIDR(s))' },
      {
        message: 'subnets must be of different families',
        rule: 'size(self.subnets) != 2 || !isCIDR(self.subnets[0]) || !isCIDR(self.subnets[1]) || cidr(self.subnets[0]).ip().family() != cidr(self.subnets[1]).ip().family()',
      },
      {
        message: 'pod IPs must be in a subnet',
        rule: '!has(self.podIPs) || self.podIPs.all(p, self.subnets.exists(s, cidr(s).containsIP(p)))',
      },
      {
        message: 'mtu is too small for IPv6',
        rule: '!has(self.mtu) || !self.subnets.exists(i, isCIDR(i) && cidr(i).ip().family() == 6) || self.mtu >= 1280',
      },
    ],
    good: { subnets: ['10.0.0.0/16', 'fd00::/64'], podIPs: ['10.0.1.2', 'fd00::5'], mtu: 1400 },
    bad: [
      [{ subnets: ['10.0.0.0'] }, 'subnets must be CIDRs'],
      [{ subnets: ['10.0.0.0/16', '10.1.0.0/16'] }, 'subnets must be of different families'],
      [{ subnets: ['10.0.0.0/16'], podIPs: ['10.1.0.1'] }, 'pod IPs must be in a subnet'],
      [{ subnets: ['fd00::/64'], mtu: 1000 }, 'mtu is too small for IPv6'],
    ],
  },
  'service cidr and devices': {
    schema: object({
      cidrs: list(text, 2),
      conditions: {
        ...list(object({ type: name, status: name }), 8),
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['type'],
      },
      version: text,
      labels: { type: 'object', additionalProperties: name, maxProperties: 32 },
    }),
    rules: [
      { message: 'cidrs are immutable', rule: '!has(oldSelf.cidrs) || self.cidrs == oldSelf.cidrs' },
      {
        message: 'must be ready',
        rule: "!has(self.conditions) || self.conditions.exists(c, c.type == 'Ready' && c.status == 'True')",
      },
      {
        message: 'version is too old',
        rule: "!has(self.version) || semver(self.version, true).isGreaterThan(semver('1.2.0'))",
      },
      {
        message: 'label values must be in lower case',
        rule: '!has(self.labels) || self.labels.all(k, v, v == v.lowerAscii())',
      },
      {
        message: 'labels may only be added',
        rule: '!has(oldSelf.labels) || oldSelf.labels.all(k, k in self.labels)',
      },
    ],
    old: { cidrs: ['10.0.0.0/8'], labels: { a: 'x' } },
    good: {
      cidrs: ['10.0.0.0/8'],
      conditions: [{ type: 'Ready', status: 'True' }],
      version: 'v1.10',
      labels: { a: 'b', c: 'd' },
    },
    bad: [
      [{ cidrs: ['11.0.0.0/8'], labels: { a: 'b' } }, 'cidrs are immutable'],
      [{ cidrs: ['10.0.0.0/8'], labels: { a: 'B' } }, 'label values must be in lower case'],
      [{ cidrs: ['10.0.0.0/8'], labels: {} }, 'labels may only be added'],
      [{ cidrs: ['10.0.0.0/8'], labels: { a: 'b' }, version: '1.1.9' }, 'version is too old'],
    ],
  },
};

for (const [title, sample] of Object.entries(samples)) {
  test(`well-known rules: ${title}`, () => {
    const rules = sample.rules.map((rule) => (typeof rule === 'string' ? { rule } : rule));
    const spec = { ...sample.schema, 'x-kubernetes-validations': rules };
    const { tree, errors } = compileSchemaRules({ type: 'object', properties: { spec } });
    assert.deepEqual(errors, []);
    assert.ok(tree);
    const check = (value: JsonValue): string[] => {
      const oldValue = sample.old === undefined ? undefined : { spec: sample.old };
      return validateRules(tree, { value: { spec: value }, oldValue }).map((error) =>
        error.message.replace('Invalid value: ', ''),
      );
    };
    assert.deepEqual(check(sample.good), []);
    for (const [value, message] of sample.bad) assert.deepEqual(check(value), [message]);
  });
}

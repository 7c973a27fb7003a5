/**
 * Rewrites the files in `generated/` from the expected objects in Kubernetes' own tests. Usage:
 * `node generate-bootstrap-policy.ts KUBERNETES/plugin/pkg/auth/authorizer/rbac/bootstrappolicy/testdata`
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KubeObject } from '@sheaf/api';
import { parse } from 'yaml';

const sources: Readonly<Record<string, readonly string[]>> = {
  clusterroles: ['cluster-roles.yaml', 'controller-roles.yaml'],
  clusterrolebindings: ['cluster-role-bindings.yaml', 'controller-role-bindings.yaml'],
  roles: ['namespace-roles.yaml'],
  rolebindings: ['namespace-role-bindings.yaml'],
};

const [directory] = process.argv.slice(2);
if (directory === undefined) throw new Error('the directory of the test data is missing');
const policy = Object.fromEntries(
  Object.entries(sources).map(([resource, files]) => [
    resource,
    files.flatMap((file) => readItems(directory, file)),
  ]),
);
write('bootstrap-policy.json', policy);
// The node authorizer needs the rules of one role; it shall not load all of them for that.
write(
  'node-rules.json',
  policy['clusterroles']?.find((item) => item.metadata.name === 'system:node')?.['rules'],
);

function write(file: string, content: unknown): void {
  writeFileSync(new URL(`generated/${file}`, import.meta.url), `${JSON.stringify(content, null, 1)}\n`);
}

function readItems(from: string, file: string): KubeObject[] {
  const list = parse(readFileSync(join(from, file), 'utf8')) as { items: KubeObject[] };
  return list.items.map(withoutEmpty);
}

function withoutEmpty(item: KubeObject): KubeObject {
  const { creationTimestamp: _time, ...metadata } = item.metadata;
  const { rules, ...rest } = item;
  return { ...rest, metadata, ...(Array.isArray(rules) && { rules }) };
}

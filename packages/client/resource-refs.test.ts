import assert from 'node:assert/strict';
import { it } from 'node:test';
import { kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { resources } from './resource-refs.ts';

it('the kinds that are not built in are addressed as they are defined', () => {
  const defined = new Map(kindDefinitions().map((definition) => [definition.name, definition.spec]));
  const groups = new Set([...defined.values()].map(({ group }) => group));
  const wrong = Object.values(resources)
    .filter(({ group }) => groups.has(group))
    .filter(({ plural, group, version, kind, namespaced }) => {
      const spec = defined.get(`${plural}.${group}`);
      const stored = spec?.versions.find(({ storage }) => storage)?.name;
      return (
        stored !== version || spec?.names['kind'] !== kind || (spec.scope === 'Namespaced') !== namespaced
      );
    });
  assert.deepEqual(wrong, []);
});

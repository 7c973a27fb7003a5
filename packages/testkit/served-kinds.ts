import { customResourceDefinitions, kindDefinitions } from '@sheaf/api/virtualization/kind-definitions';
import { type Client, DiscoveryReader, resources } from '@sheaf/client';
import { settle } from './settle.ts';
import type { TestClock } from './test-clock.ts';

/** Serves some of the kinds that are not built in, by their `PLURAL.GROUP`. Few of them keep a test quick. */
export async function serveKinds(client: Client, clock: TestClock, names: readonly string[]): Promise<void> {
  const definitions = kindDefinitions().filter(({ name }) => names.includes(name));
  for (const definition of customResourceDefinitions(definitions))
    await client.create(resources.customResourceDefinitions, definition);
  await settle({
    clock,
    until: async () => {
      const { all } = await new DiscoveryReader(client).read();
      const served = new Set(all.map(({ plural, group }) => `${plural}.${group}`));
      return names.every((name) => served.has(name));
    },
  });
}

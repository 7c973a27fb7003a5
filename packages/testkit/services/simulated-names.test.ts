import type { NameRecord } from '@sheaf/ports';
import { testNameServer } from '@sheaf/ports/name-server.contract';
import { SimulatedNameServer } from './index.ts';

testNameServer('simulated', async (use) => {
  const server = new SimulatedNameServer();
  await use({
    server,
    addResolver(answer) {
      server.resolvers.push((question) => {
        const told = answer(question);
        if (typeof told === 'string') return told;
        return told.map((address): NameRecord => ({ name: question.name, type: 'A', address }));
      });
      return Promise.resolve();
    },
    addSearch(domain) {
      server.domains.push(domain);
      return Promise.resolve();
    },
    ask(name, type) {
      const found = server.ask({ name, type });
      if (typeof found === 'string') return Promise.resolve(found === 'silence' ? 'failed' : found);
      return Promise.resolve(
        found.length === 0 ? 'nothing' : found.map(textOf).toSorted((a, b) => a.localeCompare(b)),
      );
    },
  });
});

function textOf({ name, type, ...data }: NameRecord): string {
  return `${name} ${type} ${Object.values(data).join(' ')}`;
}

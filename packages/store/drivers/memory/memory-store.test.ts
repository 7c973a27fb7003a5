import { testStore } from '../../store.contract.ts';
import { MemoryStore } from './memory-store.ts';

testStore('memory', async (use) => {
  const store = new MemoryStore();
  await use(store);
  await store.close();
});

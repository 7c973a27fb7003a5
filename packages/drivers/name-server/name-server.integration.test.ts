import { testNameServer } from '@sheaf/ports/name-server.contract';
import { LoopbackBench } from './name-bench.fixture.ts';

testNameServer('the loopback', (use) => LoopbackBench.with(use));

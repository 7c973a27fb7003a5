import { test } from 'node:test';
import { testServiceProxy } from '@sheaf/ports/service-proxy.contract';
import { HostBench, rulesAreMissing } from './service-bench.fixture.ts';

if (rulesAreMissing === undefined) testServiceProxy('rules of the kernel', HostBench.with);
else test('rules of the kernel', { skip: rulesAreMissing });

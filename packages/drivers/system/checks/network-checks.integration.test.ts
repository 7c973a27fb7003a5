import { testNetworkChecks } from '@sheaf/ports/network-checks.contract';
import { withCheckServers } from './check-servers.fixture.ts';

testNetworkChecks('this host', withCheckServers);

import type { ServiceProxy } from '@sheaf/ports';
import { RuleServiceProxy, type ServiceProxyOptions } from './service-proxy.ts';

export type { ServiceProxyOptions } from './service-proxy.ts';

/** Nothing is touched before the first call. */
export function openServiceProxy(options: ServiceProxyOptions): ServiceProxy {
  return new RuleServiceProxy(options);
}

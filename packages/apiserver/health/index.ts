export {
  type HealthCheck,
  HealthChecks,
  type HealthResult,
  type HealthScope,
  runCheck,
} from './health-checks.ts';
export { healthPaths, listHealthPaths } from './health-paths.ts';
export { indexPath } from './index-path.ts';
export { keySetPath, openidConfigurationPath, openidPaths } from './openid-paths.ts';
export { gitVersion, type ServerVersion, versionPath } from './version-path.ts';

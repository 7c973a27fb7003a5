export { DirectoryCertificateFiles } from './certificate-files.ts';
export { networkChecks } from './checks/network-checks.ts';
export { openHost } from './host/open-host.ts';
export { type JsonLoggerOptions, jsonLogger, type LogLevel } from './json-logger.ts';
export { addProcessMetrics } from './process-metrics.ts';
export { RotatedFile, type RotatedFileOptions } from './rotated-file.ts';
export { systemClock } from './system-clock.ts';
export { systemRandom } from './system-random.ts';

export { measuredPlugins } from './measured-admission.ts';
export { metricsPath } from './metrics-path.ts';
export { RequestMetrics } from './request-metrics.ts';
export { addStorageMetrics, measuredStore } from './store-metrics.ts';

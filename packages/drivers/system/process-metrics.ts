import { readdirSync } from 'node:fs';
import type { MetricsRegistry } from '@sheaf/base';

/** What the process takes: CPU, memory, open files, and how busy its one thread is. */
export function addProcessMetrics(metrics: MetricsRegistry): void {
  const gauge = (name: string, help: string): ((value: number) => void) => {
    const cell = metrics.gauge({ name, help }).of();
    return (value) => cell.set(value);
  };
  const cpu = metrics
    .counter({ name: 'process_cpu_seconds_total', help: 'CPU time used, user and system.' })
    .of();
  const resident = gauge('process_resident_memory_bytes', 'Memory in use.');
  const heap = gauge('nodejs_heap_size_used_bytes', 'Memory used by JavaScript objects.');
  const files = gauge('process_open_fds', 'Open file descriptors.');
  const start = gauge('process_start_time_seconds', 'When the process was started, in seconds since 1970.');
  const utilization = gauge(
    'nodejs_eventloop_utilization',
    'Share of the time the event loop was busy, since the start.',
  );
  start(Date.now() / 1000 - process.uptime());
  metrics.onCollect(() => {
    const { user, system } = process.cpuUsage();
    cpu.set((user + system) / 1e6);
    resident(process.memoryUsage.rss());
    heap(process.memoryUsage().heapUsed);
    utilization(performance.eventLoopUtilization().utilization);
    files(openFiles());
  });
}

function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    // Only Linux tells.
    return 0;
  }
}

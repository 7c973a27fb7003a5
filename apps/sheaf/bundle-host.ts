import { join } from 'node:path';
import type { Clock, Logger } from '@sheaf/base';
import { DirectoryBundles } from '@sheaf/drivers/bundle';
import { HostChartContents } from '@sheaf/drivers/helm';
import { networkChecks } from '@sheaf/drivers/system';
import type { Bundles, ChartContents, ContainerImages } from '@sheaf/ports';
import { chartsDirectory, helmSource, toolsDirectory } from './helm-host.ts';

export interface BundleHostOptions {
  /** Absolute. */
  readonly dataDir: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly images: ContainerImages;
}

/** What this host has for charts without a network: what bundles bring, and what operations find. */
export interface BundleHost {
  readonly bundles: Bundles;
  readonly chartContents: ChartContents;
}

export function openBundleHost({ dataDir, clock, logger, images }: BundleHostOptions): BundleHost {
  const charts = chartsDirectory(dataDir);
  const directory = join(dataDir, 'bundles');
  const source = helmSource(dataDir);
  return {
    bundles: new DirectoryBundles({
      directory,
      charts,
      tools: toolsDirectory(dataDir),
      hasProgram: (name) => name === 'helm' && source.find() !== undefined,
      images,
      clock,
      logger,
    }),
    chartContents: new HostChartContents({
      source,
      charts,
      work: join(dataDir, 'charts-being-filled'),
      images,
      checks: networkChecks,
      variables: process.env,
    }),
  };
}

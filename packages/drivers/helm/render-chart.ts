import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChartNeed } from '@sheaf/ports';
import { helmEnvironment } from './helm-environment.ts';
import { HelmSession } from './helm-session.ts';
import { imagesIn, type RenderedImages } from './rendered-images.ts';

export interface RenderOrder {
  /** Helm. */
  readonly program: string;
  /** The chart's file. */
  readonly archive: string;
  readonly need: Pick<ChartNeed, 'name' | 'targetNamespace' | 'values' | 'set'>;
  /** Where what Helm reads is put for so long; values may be secret. */
  readonly work: string;
}

/** Charts ask for a version of Kubernetes; Helm's own word for it would be that of its day. */
const kubernetesVersion = '1.36.0';

/** The images that the templates of a chart name, filled as an operation would; no server and no network is asked. @throws HelmError */
export async function imagesOfChart(order: RenderOrder, signal: AbortSignal): Promise<RenderedImages> {
  const { program, archive, need } = order;
  const work = await mkdtemp(join(order.work, 'filling-'));
  try {
    const files: string[] = [];
    for (const [index, text] of need.values.entries()) {
      const path = join(work, `values-${index}.yaml`);
      await writeFile(path, text, { mode: 0o600 });
      files.push('--values', path);
    }
    const helm = new HelmSession({
      program,
      environment: helmEnvironment({ work, driver: 'secret', variables: {} }),
      print: () => undefined,
    });
    const interrupt = (): void => helm.interrupt();
    signal.addEventListener('abort', interrupt, { once: true });
    const place = ['--namespace', need.targetNamespace, '--kube-version', kubernetesVersion, '--skip-tests'];
    const manifests = await helm
      .call(['template', need.name, archive, ...place, ...files, ...need.set], {
        phase: 'release',
        isQuestion: true,
      })
      .finally(() => signal.removeEventListener('abort', interrupt));
    return imagesIn(manifests);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

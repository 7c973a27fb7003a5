import { startSheaf } from './sheaf-process.ts';

/** The API server under test: a Sheaf of its own, or any server named by SHEAF_TEST_KUBECONFIG. */
export interface Target {
  readonly kubeconfig: string;
  /** Whether namespaces are emptied, garbage is collected and service accounts appear (SHEAF_TEST_CONTROLLERS=no: not). */
  readonly hasControllers: boolean;
  stop(): Promise<void>;
}

export async function openTarget(): Promise<Target> {
  const kubeconfig = process.env['SHEAF_TEST_KUBECONFIG'];
  if (kubeconfig !== undefined && kubeconfig !== '') {
    const hasControllers = process.env['SHEAF_TEST_CONTROLLERS'] !== 'no';
    return { kubeconfig, hasControllers, stop: async () => undefined };
  }
  // As for an API server of others that is named: what these tests see must not hang on what this host can run.
  const sheaf = await startSheaf({ further: ['--without-containers'] });
  return { kubeconfig: sheaf.kubeconfig, hasControllers: true, stop: sheaf.stop };
}

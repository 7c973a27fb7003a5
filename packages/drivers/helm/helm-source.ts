import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../qemu/run-program.ts';

/** The version that is built; checked against the public log of Go modules. */
const module = 'helm.sh/helm/v3/cmd/helm@v3.22.0';

export interface HelmSourceOptions {
  /** Where Helm may be besides the PATH. */
  readonly directories: readonly string[];
  /** Where it is built, with everything that Go needs for that. */
  readonly buildDirectory: string;
  /** What is looked for on the PATH. */
  readonly helm?: string;
  /** Absolute paths count, else the PATH. */
  readonly go?: string;
}

interface Problem {
  readonly reason: string;
  readonly wayOut: string;
}

const install = 'put helm 3 on the PATH, or install Go (apt-get install golang-go), with which it is built';

/** Helm on this host: on the PATH, else built once from its Go module, when it is asked for. It may come while Sheaf runs. */
export class HelmSource {
  readonly #options: HelmSourceOptions;
  #build: 'none' | 'running' | 'failed' = 'none';
  #words = '';

  constructor(options: HelmSourceOptions) {
    this.#options = options;
  }

  find(): string | undefined {
    const { directories, buildDirectory, helm = 'helm' } = this.#options;
    const places = [helm, ...[...directories, buildDirectory].map((directory) => join(directory, 'helm'))];
    return places.map(findProgram).find((path) => path !== undefined);
  }

  /** Why there is none now; asking begins what can be done about it. */
  problem(): Problem | undefined {
    if (this.find() !== undefined) return undefined;
    const go = findProgram(this.#options.go ?? 'go');
    if (go === undefined)
      return { reason: 'Helm 3 is not on this host, nor Go to build it', wayOut: install };
    if (this.#build === 'failed')
      return {
        reason: `Helm could not be built: ${this.#words}`,
        wayOut: `${install}; then start Sheaf again`,
      };
    if (this.#build === 'none') this.#begin(go);
    return {
      reason: 'Helm is being built from its Go module, which takes some minutes',
      wayOut: 'wait, or put helm 3 on the PATH',
    };
  }

  #begin(go: string): void {
    this.#build = 'running';
    const { buildDirectory } = this.#options;
    mkdirSync(buildDirectory, { recursive: true, mode: 0o755 });
    const child = spawn(go, ['install', module], {
      cwd: buildDirectory,
      env: { ...process.env, GOBIN: buildDirectory, GOFLAGS: '-buildvcs=false' },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let words = '';
    child.stderr.on('data', (bytes: Buffer) => (words = `${words}${bytes.toString()}`.slice(-500)));
    const fail = (why: string): void => {
      this.#build = 'failed';
      this.#words = why.trim().replaceAll('\n', '; ');
    };
    child.once('error', (error) => fail(error.message));
    child.once('exit', (code) => {
      if (code === 0) this.#build = 'none';
      else fail(words);
    });
    // It does not keep Sheaf from ending; the next start begins again.
    child.unref();
  }
}

import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RegistryAccess } from '@sheaf/ports';
import { SourceFault } from '../http-source.ts';
import { findProgram, type ProgramLimits, type ProgramRunner } from '../program-runner.ts';

const inspectMs = 60_000;
const copyMs = 6 * 60 * 60_000;

/** What Debian's skopeo does for us: it talks to registries. What comes from it is looked at as from a stranger. */
export class Skopeo {
  readonly #runner: ProgramRunner;

  constructor(runner: ProgramRunner) {
    this.#runner = runner;
  }

  isInstalled(): Promise<boolean> {
    return findProgram('skopeo').then((path) => path !== undefined);
  }

  /** The manifest as the registry has it. `room`: an empty directory of the caller's. */
  inspect(
    source: string,
    { access, room }: { readonly access: RegistryAccess; readonly room: string },
    signal: AbortSignal,
  ): Promise<string> {
    return this.#run(
      { words: (options) => ['inspect', '--raw', ...options(''), source], limits: { timeoutMs: inspectMs } },
      { access, room },
      signal,
    );
  }

  /** All layers of an image, each in a file with the digits of its digest, into `to`; none has more than `mostBytes`. */
  async copy(
    source: string,
    {
      access,
      room,
      to,
      mostBytes,
    }: {
      readonly access: RegistryAccess;
      readonly room: string;
      readonly to: string;
      readonly mostBytes: number;
    },
    signal: AbortSignal,
  ): Promise<void> {
    const words = (options: (prefix: string) => readonly string[]): readonly string[] => [
      'copy',
      '--quiet',
      '--preserve-digests',
      ...options('src-'),
      source,
      `dir:${to}`,
    ];
    const limits = { timeoutMs: copyMs, fileBytes: mostBytes };
    await this.#run({ words, limits }, { access, room }, signal);
  }

  async #run(
    call: {
      readonly words: (options: (prefix: string) => readonly string[]) => readonly string[];
      readonly limits: ProgramLimits;
    },
    { access, room }: { readonly access: RegistryAccess; readonly room: string },
    signal: AbortSignal,
  ): Promise<string> {
    if (!(await this.isInstalled()))
      throw new SourceFault(
        'skopeo is not installed on this host; install it, e.g. with "apt-get install skopeo"',
      );
    const authFile = join(room, 'auth.json');
    await writeFile(authFile, JSON.stringify({ auths: authsOf(access) }), { mode: 0o600 });
    const certificates = join(room, 'certs');
    if (access.authorities !== undefined) {
      await mkdir(certificates, { recursive: true });
      await writeFile(join(certificates, 'ca.crt'), access.authorities);
    }
    const options = (prefix: string): readonly string[] => [
      `--${prefix}authfile=${authFile}`,
      ...(access.authorities === undefined ? [] : [`--${prefix}cert-dir=${certificates}`]),
      ...(access.isInsecure ? [`--${prefix}tls-verify=false`] : []),
    ];
    return this.#runner.run(
      {
        program: 'skopeo',
        arguments: [`--tmpdir=${room}`, ...call.words(options)],
        limits: call.limits,
        hasNetwork: true,
      },
      signal,
    );
  }
}

/** What pull secrets know of registries; the first that knows one is believed. */
function authsOf({ credentials = [] }: RegistryAccess): object {
  const all: Record<string, unknown> = {};
  for (const secret of credentials) {
    for (const [host, entry] of Object.entries(readAuths(secret.reveal()))) all[host] ??= entry;
  }
  return all;
}

function readAuths(text: string): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(text) as { readonly auths?: Readonly<Record<string, unknown>> }).auths ?? {};
  } catch {
    throw new SourceFault(
      'its pull secret cannot be read; make it with "kubectl create secret docker-registry"',
    );
  }
}

import { access, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runProgram } from './program.ts';

/** A program that tests need: its path, or why it cannot be had here. */
export type Tool = { readonly path: string } | { readonly missing: string };

const cache = fileURLToPath(new URL('../.cache/tools/', import.meta.url));
const buildMilliseconds = 30 * 60_000;

/** kubectl ≥ 1.31 from PATH (or SHEAF_TEST_KUBECTL), otherwise 1.32 built from its Go module where Go is present. */
export async function findKubectl(): Promise<Tool> {
  const given = process.env['SHEAF_TEST_KUBECTL'] ?? 'kubectl';
  const version = await output(given, ['version', '--client', '-o', 'json']);
  const minor = Number.parseInt(/"minor":\s*"(\d+)/.exec(version ?? '')?.[1] ?? '0', 10);
  if (minor >= 31) return { path: given };
  return buildKubectl();
}

/** helm 3 from PATH (or SHEAF_TEST_HELM), otherwise built from its Go module where Go is present. */
export async function findHelm(): Promise<Tool> {
  const given = process.env['SHEAF_TEST_HELM'] ?? 'helm';
  const version = await output(given, ['version', '--short']);
  if (version?.startsWith('v3.') === true) return { path: given };
  return installHelm();
}

/** virtctl from PATH (or SHEAF_TEST_VIRTCTL), otherwise 1.8 built from its Go module where Go is present. */
export async function findVirtctl(): Promise<Tool> {
  const given = process.env['SHEAF_TEST_VIRTCTL'] ?? 'virtctl';
  if ((await output(given, ['version', '--client'])) !== undefined) return { path: given };
  const path = join(cache, 'virtctl');
  if (await exists(path)) return { path };
  return buildGoProgram('virtctl', fileURLToPath(new URL('virtctl/go/', import.meta.url)));
}

/** Builds a Go program of this repository (a directory with go.mod, or another module file) into the tool cache. */
export function buildGoProgram(name: string, directory: string, moduleFile = 'go.mod'): Promise<Tool> {
  return goBuild(name, directory, [`-modfile=${moduleFile}`]);
}

const kubectlSource = {
  module: 'module kubectl\n\ngo 1.23.0\n\nrequire k8s.io/kubectl v0.32.10\n',
  main: `package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"

	_ "k8s.io/client-go/plugin/pkg/client/auth"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
	os.Exit(0)
}
`,
};

async function buildKubectl(): Promise<Tool> {
  const path = join(cache, 'kubectl');
  if (await exists(path)) return { path };
  if (!(await hasGo()))
    return { missing: 'kubectl ≥ 1.31 is not on PATH and there is no Go ≥ 1.21 to build it' };
  const directory = join(cache, 'src', 'kubectl');
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, 'go.mod'), kubectlSource.module);
  await writeFile(join(directory, 'main.go'), kubectlSource.main);
  const failure = await go(['mod', 'tidy'], directory);
  return failure === undefined
    ? goBuild('kubectl', directory)
    : { missing: `kubectl: go mod tidy: ${failure}` };
}

async function installHelm(): Promise<Tool> {
  const path = join(cache, 'helm');
  if (await exists(path)) return { path };
  if (!(await hasGo())) return { missing: 'helm 3 is not on PATH and there is no Go ≥ 1.21 to build it' };
  await mkdir(cache, { recursive: true });
  const failure = await go(['install', 'helm.sh/helm/v3/cmd/helm@latest'], cache, { GOBIN: cache });
  return failure === undefined ? { path } : { missing: `helm: go install: ${failure}` };
}

async function goBuild(name: string, directory: string, flags: readonly string[] = []): Promise<Tool> {
  if (!(await hasGo())) return { missing: `there is no Go to build ${name}` };
  await mkdir(cache, { recursive: true });
  const path = join(cache, name);
  const version = '-X k8s.io/component-base/version.gitVersion=v1.32.10';
  const failure = await go(
    ['build', ...flags, '-trimpath', '-ldflags', `-s -w ${version}`, '-o', path, '.'],
    directory,
  );
  return failure === undefined ? { path } : { missing: `${name}: go build failed: ${failure}` };
}

/** Runs go; undefined is success, otherwise the last lines of what it said. */
async function go(
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string | undefined> {
  const result = await runProgram('go', args, {
    cwd,
    env: { GOFLAGS: '-buildvcs=false', ...env },
    timeout: buildMilliseconds,
  });
  return result.code === 0 ? undefined : result.err.trim().split('\n').slice(-4).join(' | ');
}

async function hasGo(): Promise<boolean> {
  const version = /go1\.(\d+)/.exec((await output('go', ['version'])) ?? '')?.[1];
  return Number(version ?? '0') >= 21;
}

async function output(program: string, args: readonly string[]): Promise<string | undefined> {
  try {
    const result = await runProgram(program, args);
    return result.code === 0 ? result.out : undefined;
  } catch {
    return undefined;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await access(path);
    return true;
  } catch {
    return false;
  }
}

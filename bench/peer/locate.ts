import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { PeerOptions } from './peer.ts';

interface PeerRequest {
  readonly directory: string;
  /** Directory of etcd, kube-apiserver, kube-controller-manager; default SHEAF_PEER_BIN, then PATH. */
  readonly binaries?: string | undefined;
  readonly controllers?: boolean;
}

/** Finds the peer's programs, or fails and says which one is missing and how to give it. */
export function peerOptionsFrom(request: PeerRequest): PeerOptions {
  const directories = [
    request.binaries ?? process.env['SHEAF_PEER_BIN'],
    ...(process.env['PATH'] ?? '').split(delimiter),
  ].filter((directory): directory is string => directory !== undefined && directory !== '');
  const find = (name: string): string => {
    const found = directories.map((directory) => join(directory, name)).find(isExecutable);
    if (found !== undefined) return found;
    throw new Error(`${name} not found: give --bin or SHEAF_PEER_BIN (how to build it: bench/README.md)`);
  };
  const base = { directory: request.directory, etcd: find('etcd'), apiServer: find('kube-apiserver') };
  return request.controllers === true
    ? { ...base, controllerManager: find('kube-controller-manager') }
    : base;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

import { badRequest, StatusError, type StatusReason } from '@sheaf/base';
import type { Capability } from '@sheaf/ports';

function refusal(reason: StatusReason, message: string): StatusError {
  return new StatusError({ reason, message });
}

export const refusals = {
  unavailable: (what: string, { reason, wayOut }: Capability) =>
    refusal('ServiceUnavailable', `${what} cannot be had on this host: ${reason}; ${wayOut ?? ''}`),
  badPath: (path: string) =>
    badRequest(
      `${JSON.stringify(path)} cannot be a path in a volume: use names without ".." that do not begin with ".."`,
    ),
  noVolume: (name: string) => refusal('NotFound', `there is no volume ${name}: make it first`),
  badHostPath: (path: string) =>
    badRequest(`${JSON.stringify(path)} cannot be a path of the host: use an absolute one without ".."`),
  wrongHostPath: (words: string, isThere: boolean) =>
    isThere
      ? badRequest(`${words}: name another path, or another type`)
      : refusal('NotFound', `${words}: make it on the host, or name a path that is there`),
  diskInUse: (volumeId: string) =>
    refusal(
      'Conflict',
      `the disk of volume ${volumeId} is open elsewhere: stop the virtual machine, or wait for the copy, that uses it`,
    ),
  diskOutdated: (volumeId: string) =>
    refusal(
      'Conflict',
      `volume ${volumeId} has gone on in another file while its disk was opened: try again`,
    ),
  diskUnusable: (volumeId: string, words: string) =>
    refusal(
      'ServiceUnavailable',
      `the disk of volume ${volumeId} cannot be opened: ${words}; see whether the file is there and whole`,
    ),
  noAnswer: (volumeId: string) =>
    refusal('ServerTimeout', `what opens the disk of volume ${volumeId} does not answer yet: try again`),
  diskBusy: (words: string) =>
    refusal('ServerTimeout', `${words}: a process still uses it; end the containers that do, and try again`),
  foreignContent: (volumeId: string, content: string) =>
    badRequest(
      `volume ${volumeId} has ${content} on it, no file system for pods: use it as a block device, or an empty volume`,
    ),
  brokenFileSystem: (volumeId: string, words: string) =>
    refusal(
      'ServiceUnavailable',
      `the file system of volume ${volumeId} has errors that need someone: ${words}; attach it to a virtual machine and run fsck there`,
    ),
  toolFailed: (call: string, words: string) =>
    refusal('ServiceUnavailable', `${call}: ${words}; see whether this host has the room and the rights`),
  noProgram: (program: string, wayOut: string) =>
    refusal('ServiceUnavailable', `${program} is not installed: ${wayOut}`),
} as const;

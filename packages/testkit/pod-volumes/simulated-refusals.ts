import { badRequest, StatusError } from '@sheaf/base';

export const refusals = {
  badName: (name: string) =>
    badRequest(`${JSON.stringify(name)} cannot be the name of a file of a pod: use letters and digits`),
  badPath: (path: string) =>
    badRequest(`${JSON.stringify(path)} cannot be a path in a volume: use names without ".."`),
  badHostPath: (path: string) =>
    badRequest(`${JSON.stringify(path)} cannot be a path of the host: use an absolute one without ".."`),
  noVolume: (name: string) =>
    new StatusError({ reason: 'NotFound', message: `there is no volume ${name}: make it first` }),
  wrongHostPath: (path: string, words: string, isThere: boolean) =>
    new StatusError({
      reason: isThere ? 'BadRequest' : 'NotFound',
      message: `hostPath type check failed: ${path} is not ${words}: make it on the host, or name another path`,
    }),
  busy: (path: string) =>
    new StatusError({
      reason: 'ServerTimeout',
      message: `${path} stays: a process still uses it; end the containers that do, and try again`,
    }),
  diskInUse: (volumeId: string) =>
    new StatusError({
      reason: 'Conflict',
      message: `the disk of volume ${volumeId} is open elsewhere: stop the virtual machine that uses it`,
    }),
  diskOutdated: (volumeId: string) =>
    new StatusError({
      reason: 'Conflict',
      message: `volume ${volumeId} has gone on in another file while its disk was opened: try again`,
    }),
} as const;

import { StatusError, type StatusReason } from '@sheaf/base';

/** Refusals as a driver words them. */
function refusal(reason: StatusReason, message: string): StatusError {
  return new StatusError({ reason, message });
}

export const refusals = {
  startedOutdated: (id: string, disk: string) =>
    refusal(
      'Conflict',
      `the volume of disk ${disk} of machine ${id} has gone on in another file while it was opened: start the machine again`,
    ),
  outdated: (disk: string) =>
    refusal(
      'Conflict',
      `the volume of disk ${disk} has gone on in another file while it was opened: try again`,
    ),
  absent: (id: string) => refusal('NotFound', `there is no machine ${id}`),
  badId: (id: string) => refusal('BadRequest', `${JSON.stringify(id)} cannot be the id of a machine`),
  notRunning: (id: string) => refusal('Conflict', `machine ${id} does not run: start it first`),
  runs: (id: string, state: string) =>
    refusal('Conflict', `machine ${id} is ${state}: end it before it is forgotten`),
  silent: (id: string) =>
    refusal(
      'ServerTimeout',
      `machine ${id} does not answer; it may come back by itself, or end it and start it again`,
    ),
  leaving: (name: string) =>
    refusal('Conflict', `${name} is leaving the machine: attach it again when it is gone`),
  noDevice: (name: string) => refusal('NotFound', `the machine has no device ${name}: attach it first`),
  inUse: (path: string, owner: string) =>
    refusal(
      'Conflict',
      `${path} is in use by machine ${owner}: detach it there or end that machine, and try again`,
    ),
  coldBus: (name: string) =>
    refusal('BadRequest', `disk ${name} is on the sata bus: use scsi, or attach it at the next start`),
  noRoom: (what: string) => refusal('BadRequest', `the machine has ${what}: restart it with more`),
  lacks: (id: string, what: string) =>
    refusal('BadRequest', `machine ${id} has not ${what}: start it with one`),
  noAgent: (id: string) =>
    refusal('ServiceUnavailable', `no guest agent listens in machine ${id}: start qemu-guest-agent in it`),
  memoryBeingKept: (id: string) =>
    refusal('Conflict', `the memory of machine ${id} is being kept: wait until that is done`),
  keyInUse: (id: string, key: string) =>
    refusal('Conflict', `machine ${id} uses what is kept under ${key}: end it first`),
} as const;

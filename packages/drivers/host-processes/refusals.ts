import { StatusError, type StatusReason } from '@sheaf/base';

function refusal(reason: StatusReason, message: string): StatusError {
  return new StatusError({ reason, message });
}

export const refusals = {
  badId: (id: string) =>
    refusal('BadRequest', `${JSON.stringify(id)} cannot be the id of a sandbox or container`),
  noSandbox: (id: string) => refusal('NotFound', `there is no sandbox ${id}`),
  noContainer: (id: string) => refusal('NotFound', `there is no container ${id}`),
  noImage: (id: string) =>
    refusal('NotFound', `there is no image ${id}: it cannot be pulled, for it names a program of this host`),
  sandboxEnded: (id: string) => refusal('Conflict', `sandbox ${id} has ended: start another one`),
  sandboxRuns: (id: string) => refusal('Conflict', `sandbox ${id} has not ended: end it first`),
  containerRuns: (id: string) => refusal('Conflict', `container ${id} runs: stop it first`),
  logInUse: (id: string) => refusal('Conflict', `container ${id} has not been removed: remove it first`),
  noPath: (path: string) => refusal('BadRequest', `there is no ${path}`),
  podNetwork: () =>
    refusal('BadRequest', "a program of the host has the host's network: set hostNetwork to true"),
  ownCommand: (reference: string) =>
    refusal(
      'BadRequest',
      `${reference} is a program of the host and runs no other: leave command out, use args`,
    ),
  noStreams: () =>
    refusal('BadRequest', 'a program of the host has neither input nor terminal: leave stdin and tty out'),
  inside: (what: string) =>
    refusal(
      'BadRequest',
      `${what} is not there for a program of the host: read its log, or run it as an image`,
    ),
  unavailable: (reason: string, wayOut: string) =>
    refusal('ServiceUnavailable', `the program cannot be run: ${reason}; ${wayOut}`),
  notStarting: (id: string) =>
    refusal('ServerTimeout', `container ${id} has not begun to run: the host is too busy perhaps; try again`),
  notEnding: (id: string) =>
    refusal(
      'ServerTimeout',
      `container ${id} was killed and has not ended: it waits in the kernel; try again`,
    ),
} as const;

const idPattern = /^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,199}$/;

/** Ids become names of files. */
export function checkedId(id: string): string {
  if (!idPattern.test(id)) throw refusals.badId(id);
  return id;
}

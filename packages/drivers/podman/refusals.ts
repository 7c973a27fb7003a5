import { StatusError, type StatusReason } from '@sheaf/base';
import { RestError } from './rest-client.ts';

function refusal(reason: StatusReason, message: string): StatusError {
  return new StatusError({ reason, message });
}

export const refusals = {
  badId: (id: string) =>
    refusal('BadRequest', `${JSON.stringify(id)} cannot be the id of a sandbox or container`),
  noSandbox: (id: string) => refusal('NotFound', `there is no sandbox ${id}`),
  noContainer: (id: string) => refusal('NotFound', `there is no container ${id}`),
  noImage: (id: string) => refusal('NotFound', `there is no image ${id}: pull or load it first`),
  sandboxEnded: (id: string) => refusal('Conflict', `sandbox ${id} has ended: start another one`),
  sandboxStarting: (id: string) => refusal('Conflict', `sandbox ${id} is not ready: start it first`),
  sandboxRuns: (id: string) => refusal('Conflict', `sandbox ${id} has not ended: end it first`),
  containerRuns: (id: string) => refusal('Conflict', `container ${id} runs: stop it first`),
  notRunning: (id: string) => refusal('Conflict', `container ${id} does not run`),
  commandFailed: (words: string) => refusal('BadRequest', words),
  logInUse: (id: string) => refusal('Conflict', `container ${id} has not been removed: remove it first`),
  noNetwork: (reason: string) =>
    refusal('ServiceUnavailable', `there is no network for pods: ${reason}; use the host's network`),
  unavailable: (reason: string, wayOut: string) =>
    refusal('ServiceUnavailable', `containers cannot be run: ${reason}; ${wayOut}`),
  notEnding: (id: string) =>
    refusal(
      'ServerTimeout',
      `container ${id} was killed and has not ended: a process of it waits in the kernel, for storage perhaps; try again`,
    ),
} as const;

/** What the engine says about something that is wrong with the order, in the words of the API. */
export function translated(error: unknown): unknown {
  if (!(error instanceof RestError)) return error;
  const rule = rules.find(({ pattern }) => pattern.test(error.message));
  return rule ? refusal(rule.reason, error.message) : error;
}

const rules: readonly { readonly pattern: RegExp; readonly reason: StatusReason }[] = [
  { pattern: /address already in use|bind: .*in use|image .*is in use|image is in use/i, reason: 'Conflict' },
  { pattern: /image not known|no such container|no such image/i, reason: 'NotFound' },
  {
    pattern:
      /no such file or directory|no command or entrypoint|invalid|unable to find user|unable to find group|unknown capability|not a directory|must be/i,
    reason: 'BadRequest',
  },
  { pattern: /no space left on device/i, reason: 'ServiceUnavailable' },
];

/** The program that was to be started is not there, or the runtime refuses to start it. */
export function isStartFailure(error: unknown): error is RestError {
  return (
    error instanceof RestError &&
    /OCI runtime|runc:|crun:|executable file not found|permission denied/i.test(error.message)
  );
}

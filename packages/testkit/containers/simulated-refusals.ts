import { StatusError, type StatusReason } from '@sheaf/base';

function refusal(reason: StatusReason, message: string): StatusError {
  return new StatusError({ reason, message });
}

/** Refusals as a driver words them. */
export const containerRefusals = {
  badId: (id: string) =>
    refusal('BadRequest', `${JSON.stringify(id)} cannot be the id of a sandbox or container`),
  noSandbox: (id: string) => refusal('NotFound', `there is no sandbox ${id}`),
  noContainer: (id: string) => refusal('NotFound', `there is no container ${id}`),
  noImage: (id: string) => refusal('NotFound', `there is no image ${id}: pull or load it first`),
  sandboxEnded: (id: string) => refusal('Conflict', `sandbox ${id} has ended: start another one`),
  sandboxStarting: (id: string) => refusal('Conflict', `sandbox ${id} is not ready: start it first`),
  sandboxRuns: (id: string) => refusal('Conflict', `sandbox ${id} has not ended: end it first`),
  portTaken: (port: number) => refusal('Conflict', `host port ${port}: address already in use`),
  containerRuns: (id: string) => refusal('Conflict', `container ${id} runs: stop it first`),
  notRunning: (id: string) => refusal('Conflict', `container ${id} does not run`),
  commandFailed: (words: string) => refusal('BadRequest', words),
  logInUse: (id: string) => refusal('Conflict', `container ${id} has not been removed: remove it first`),
  imageInUse: (id: string) => refusal('Conflict', `image ${id} is in use by a container`),
  badArchive: () => refusal('BadRequest', 'the archive cannot be loaded: it is none'),
  noRegistry: (reference: string) =>
    refusal('BadRequest', `${reference} does not name its registry: write docker.io/library/NAME:TAG`),
} as const;

/** How long anything may take, in milliseconds, and how much there may be. */
export interface PodmanLimits {
  /** From the launch of the engine's service to its first answer. */
  readonly startMs: number;
  /** For an answer to a question whether the service is well; after it, it is ended and started again. */
  readonly answerMs: number;
  /** Between two such questions; and between two looks at everything, for what no event told. */
  readonly heartbeatMs: number;
  /** For one call of the engine. */
  readonly callMs: number;
  /** For a process to end after it was killed. */
  readonly endMs: number;
  /** A pull that receives nothing for so long is given up. */
  readonly pullStallMs: number;
  /** For loading an archive, once all of it has come. */
  readonly loadMs: number;
  /** For trying out what works here, each attempt. */
  readonly trialMs: number;
  /** A log is put aside when it is longer. */
  readonly logBytes: number;
  /** Parts put aside that are kept. */
  readonly logParts: number;
}

export const defaultLimits: PodmanLimits = {
  startMs: 60_000,
  answerMs: 15_000,
  heartbeatMs: 5000,
  callMs: 120_000,
  endMs: 30_000,
  pullStallMs: 60_000,
  loadMs: 600_000,
  trialMs: 60_000,
  logBytes: 10 * 1024 * 1024,
  logParts: 4,
};

/** Times in milliseconds. */
export interface ImageLimits {
  /** Without a byte for so long, a source counts as broken. */
  readonly stallMs: number;
  /** One download, with all its attempts. */
  readonly downloadMs: number;
  /** Attempts in a row at one address that bring no byte. */
  readonly attempts: number;
  /** Between two attempts. */
  readonly retryMs: number;
  /** What may have to be downloaded again after a loss of power. */
  readonly checkpointBytes: number;
  /** The most that a container image and the disk in it may have. */
  readonly containerBytes: number;
  /** After a failure with a container image; longer after each further one. */
  readonly containerRetryMs: number;
}

export const usualImageLimits: ImageLimits = {
  stallMs: 60_000,
  downloadMs: 24 * 60 * 60_000,
  attempts: 4,
  retryMs: 5_000,
  checkpointBytes: 32 * 1024 * 1024,
  containerBytes: 512 * 1024 ** 3,
  containerRetryMs: 10_000,
};

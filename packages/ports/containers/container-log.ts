/** A line of a container's output, or a part of a long one. */
export interface LogLine {
  /** RFC 3339 with nanoseconds, in UTC. */
  readonly time: string;
  readonly stream: 'stdout' | 'stderr';
  /** Without its line end. */
  readonly content: Uint8Array;
  /** The line goes on with the next part of the same stream. */
  readonly isPart: boolean;
}

export interface LogSelection {
  /** Waits for more until the container has ended and all of it has been read. */
  readonly isFollowed?: boolean;
  /** Only from this time on, milliseconds since 1970. */
  readonly since?: number;
  /** Only the last so many lines of what is there now. */
  readonly tailLines?: number;
}

/**
 * Where keys and certificates live: small named files that only the server's user can read (mode 0600). Names are plain
 * file names without directories.
 */
export interface CertificateFiles {
  /** The file's text; `undefined` if there is none. @throws Error if it cannot be read */
  read(name: string): Promise<string | undefined>;
  /** Replaces the file as a whole: after a crash it is the old or the new text. */
  write(name: string, text: string): Promise<void>;
}

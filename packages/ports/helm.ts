/**
 * Operations on charts as processes: what is between those who ask for them (Jobs) and the program that carries them out. The order
 * is arguments, variables and mounted files, in the words of klipper-helm, so that an image of it can do the same. The answer is an
 * exit code of the table below, and last words.
 */

/** The image by which a container asks for the host's Helm. There is no such registry. */
export const helmImage = 'sheaf.local/helm:3';

/** Whom the program runs as on the host, user and group, where it can be told: what it is given is to be readable for the group. */
export const helmUserId = 65_532;

/** On Helm's record of a release: what it was made for. */
export const releaseHashLabel = 'sheaf.dev/config-hash';
/** Likewise: which revision that was. Whoever changes a release by hand leaves our labels on a later one. */
export const releaseRevisionLabel = 'sheaf.dev/revision';
/** Of a label's value. */
const longestHash = 40;

/** The value of that label, of everything that an operation works with. */
export function releaseHash(configHash: string): string {
  return configHash.replace(/^SHA256=/, '').slice(0, longestHash) || 'none';
}

/** What an operation came to, where it failed. */
export interface HelmFailure {
  readonly exitCode: number;
  /** PascalCase, names the cause. */
  readonly reason: string;
  /** `fault`: the same again will fail again. */
  readonly nature: 'transient' | 'fault';
  readonly wayOut: string;
}

/** Every end of the program but 0; what is not in it was no end of its own. */
export const helmFailures: readonly HelmFailure[] = [
  {
    exitCode: 1,
    reason: 'HelmFailed',
    nature: 'transient',
    wayOut: 'read the log of its pod',
  },
  {
    exitCode: 64,
    reason: 'OrderInvalid',
    nature: 'fault',
    wayOut: 'correct the field that the message names',
  },
  {
    exitCode: 65,
    reason: 'ValuesInvalid',
    nature: 'fault',
    wayOut: 'correct the values, or use a version of the chart that takes them',
  },
  {
    exitCode: 66,
    reason: 'ChartNotFound',
    nature: 'fault',
    wayOut: 'correct repo, chart and version',
  },
  {
    exitCode: 67,
    reason: 'RepositoryUnreachable',
    nature: 'transient',
    wayOut: 'check the address of the repository and the network',
  },
  {
    exitCode: 68,
    reason: 'CredentialsRefused',
    nature: 'fault',
    wayOut: 'correct the Secret with the credentials of the repository',
  },
  {
    exitCode: 69,
    reason: 'HookFailed',
    nature: 'fault',
    wayOut: 'read the log of the Job that the chart has for it, and mend its cause',
  },
  {
    exitCode: 70,
    reason: 'ReleaseTimedOut',
    nature: 'transient',
    wayOut: 'see what its pods wait for, or allow more with timeout',
  },
  {
    exitCode: 71,
    reason: 'ReleaseBusy',
    nature: 'transient',
    wayOut: 'wait for the other operation on this release',
  },
  {
    exitCode: 72,
    reason: 'ObjectsOfOthers',
    nature: 'fault',
    wayOut: 'delete these objects, or set takeOwnership',
  },
  {
    exitCode: 73,
    reason: 'ApiRefused',
    nature: 'fault',
    wayOut: 'correct what the server refuses, in the values or in the chart',
  },
  {
    exitCode: 74,
    reason: 'ApiUnreachable',
    nature: 'transient',
    wayOut: 'see whether the API server is well',
  },
  {
    exitCode: 75,
    reason: 'ReleaseFailed',
    nature: 'fault',
    wayOut: 'repair it with helm rollback or helm uninstall; the policy is to leave it',
  },
  {
    exitCode: 76,
    reason: 'CertificateUntrusted',
    nature: 'fault',
    wayOut: 'name the authority with repoCA or repoCAConfigMap',
  },
  {
    exitCode: 77,
    reason: 'HelmMissing',
    nature: 'fault',
    wayOut: 'install Helm 3, or Go so that it can be built',
  },
  {
    exitCode: 78,
    reason: 'NamespaceTerminating',
    nature: 'fault',
    wayOut: 'wait for the end of its namespace, and make that again, or name another one',
  },
  {
    exitCode: 79,
    reason: 'HttpsNotSpoken',
    nature: 'fault',
    wayOut: 'set plainHTTP, if the registry is to be asked without TLS',
  },
  {
    exitCode: 80,
    reason: 'HelmUnusable',
    nature: 'fault',
    wayOut: 'put a Helm 3 that works in the place that the message names',
  },
  {
    exitCode: 81,
    reason: 'ReleaseTooLarge',
    nature: 'fault',
    wayOut:
      'Helm keeps the whole chart in one object of at most 1 MiB: move its definitions into a chart of their own, or apply them with kubectl',
  },
  {
    exitCode: 82,
    reason: 'DiskFull',
    nature: 'transient',
    wayOut: 'make room on the disk of the data directory: sheaf images ls shows what takes it',
  },
  {
    exitCode: 83,
    reason: 'OrderOutdated',
    nature: 'fault',
    wayOut: 'there is nothing to do: it came late, and what is wanted now follows',
  },
  {
    exitCode: 84,
    reason: 'ReleaseOfOthers',
    nature: 'fault',
    wayOut: 'take that release away with helm uninstall, or give this one another name, or set takeOwnership',
  },
  {
    exitCode: 85,
    reason: 'FieldsOfOthers',
    nature: 'fault',
    wayOut:
      'leave these fields to whoever has set them, or take them back with forceConflicts in the HelmChartConfig of its name',
  },
  {
    exitCode: 86,
    reason: 'NamespaceMissing',
    nature: 'fault',
    wayOut: 'make the namespace that it names, or set createNamespace',
  },
  {
    exitCode: 143,
    reason: 'Interrupted',
    nature: 'transient',
    wayOut: 'it is taken up by the next try',
  },
  {
    exitCode: 137,
    reason: 'Killed',
    nature: 'transient',
    wayOut: 'it is taken up by the next try',
  },
];

const definitionsMark = 'definitions: ';

/** Of last words, in characters. */
const roomForWords = 4000;

/**
 * The last words of an installation that went well: the definitions of kinds that its chart brings, and Helm never takes away; as
 * many as there is room for.
 */
export function definitionsWords(names: readonly string[]): string {
  if (names.length === 0) return '';
  const words = `${definitionsMark}${names.join(', ')}`;
  return words.length <= roomForWords ? words : words.slice(0, words.lastIndexOf(', ', roomForWords));
}

/** The names in such words; none in others. */
export function readDefinitionsWords(words: string): readonly string[] {
  if (!words.startsWith(definitionsMark)) return [];
  return words
    .slice(definitionsMark.length)
    .split(', ')
    .filter((name) => /^[a-z0-9.-]+$/.test(name));
}

import { type HelmFailure, helmFailures } from '@sheaf/ports/helm';

/** Getting the chart, or working on the release. */
export type Phase = 'fetch' | 'release';

type Rule = readonly [RegExp, string];

const diskFull: Rule = [/no space left on device|disk quota exceeded|\bENOSPC\b/i, 'DiskFull'];

/** The first that matches; causes stand before the words that Helm wraps them in. */
const fetchRules: readonly Rule[] = [
  diskFull,
  [/server gave HTTP response to HTTPS client/i, 'HttpsNotSpoken'],
  [/x509|certificate|tls: /i, 'CertificateUntrusted'],
  [/\b40[13]\b|unauthori[sz]ed|denied|basic credential/i, 'CredentialsRefused'],
  [
    /no such host|connection refused|no route to host|network is unreachable|i\/o timeout|timed? ?out|deadline exceeded|server misbehaving|\bEOF\b|connection reset|\b50\d\b/i,
    'RepositoryUnreachable',
  ],
  [
    /not found|no chart (name|version) found|\b404\b|improper constraint|invalid_reference|invalid reference|no cached repo|is not a valid chart/i,
    'ChartNotFound',
  ],
];

const releaseRules: readonly Rule[] = [
  diskFull,
  [/sh\.helm\.release\.v1\.\S+ is invalid: [^]*too (long|large)/i, 'ReleaseTooLarge'],
  [/another operation \(.*\) is in progress|cannot re-?use a name that is still in use/i, 'ReleaseBusy'],
  [
    /(failed (pre|post)-|(pre|post)-[a-z]+ hooks? failed|warning: Hook |\* (job|pod) \S+ failed)/i,
    'HookFailed',
  ],
  [/because it is being terminated/i, 'NamespaceTerminating'],
  [/namespaces "[^"]*" not found/i, 'NamespaceMissing'],
  [/conflict occurred while applying|Apply failed with \d+ conflict/i, 'FieldsOfOthers'],
  [/invalid ownership metadata|cannot be imported into the current release/i, 'ObjectsOfOthers'],
  [
    /cluster unreachable|connection refused|no route to host|network is unreachable|i\/o timeout|TLS handshake/i,
    'ApiUnreachable',
  ],
  [/timed out waiting|deadline exceeded/i, 'ReleaseTimedOut'],
  [/forbidden|is invalid|denied the request|no matches for kind|strict decoding|violates/i, 'ApiRefused'],
  [
    /schema|execution error|error calling|template:|parse error|unable to (parse|build)|converting YAML|failed parsing|cannot (un)?marshal/i,
    'ValuesInvalid',
  ],
  [/context canceled|has been cancelled/i, 'Interrupted'],
];

/** What a failure of Helm means, by its words. */
export function failureOf(phase: Phase, words: string): HelmFailure {
  const rules = phase === 'fetch' ? fetchRules : releaseRules;
  const reason = rules.find(([pattern]) => pattern.test(words))?.[1] ?? 'HelmFailed';
  return failureNamed(reason);
}

/** @throws Error for a name that is not in the table */
export function failureNamed(reason: string): HelmFailure {
  const found = helmFailures.find((failure) => failure.reason === reason);
  if (!found) throw new Error(`there is no failure ${reason}`);
  return found;
}

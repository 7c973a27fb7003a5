import type { ImageName } from '@sheaf/ports';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** What a container asks for; without a word, `latest` is looked for anew each time. */
export function pullPolicyOf(asked: string | undefined, name: ImageName): PullPolicy {
  return (asked as PullPolicy | undefined) ?? (name.tag === 'latest' ? 'Always' : 'IfNotPresent');
}

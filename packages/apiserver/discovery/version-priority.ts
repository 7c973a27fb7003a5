/** Orders versions as clients prefer them: GA before beta before alpha, higher numbers first, anything else last by name. */
export function compareVersions(a: string, b: string): number {
  const left = rank(a);
  const right = rank(b);
  if (!left || !right) {
    if (left) return -1;
    if (right) return 1;
    return a < b ? -1 : a > b ? 1 : 0;
  }
  return right.stage - left.stage || right.major - left.major || right.minor - left.minor;
}

const stages: Readonly<Record<string, number>> = { alpha: 0, beta: 1 };

function rank(version: string): { stage: number; major: number; minor: number } | undefined {
  const match = /^v([1-9]\d*)(?:(alpha|beta)([1-9]\d*))?$/.exec(version);
  if (!match) return undefined;
  return {
    stage: match[2] ? (stages[match[2]] ?? 0) : 2,
    major: Number(match[1]),
    minor: Number(match[3] ?? 0),
  };
}

import { toError } from '@sheaf/base';

/** One thing that must be well. */
export interface HealthCheck {
  /** As it stands in paths and texts: lower case with hyphens. */
  readonly name: string;
  /** `undefined` when all is well, otherwise the reason it is not and what to do. Must be quick; a throw is a failure. */
  check(): string | undefined | Promise<string | undefined>;
}

/** What a check belongs to: `livez` asks whether a restart would help, `readyz` whether requests should be sent here. */
export type HealthScope = 'livez' | 'readyz';

export interface HealthResult {
  readonly name: string;
  /** Absent: well. */
  readonly reason?: string;
}

/** The checks of a server; parts add theirs when they start. Readiness includes liveness. */
export class HealthChecks {
  readonly #live: HealthCheck[] = [{ name: 'ping', check: () => undefined }];
  readonly #ready: HealthCheck[] = [];

  add(check: HealthCheck, scope: HealthScope): void {
    (scope === 'livez' ? this.#live : this.#ready).push(check);
  }

  of(scope: HealthScope): readonly HealthCheck[] {
    return scope === 'livez' ? this.#live : [...this.#live, ...this.#ready];
  }
}

export async function runCheck(check: HealthCheck): Promise<HealthResult> {
  try {
    const reason = await check.check();
    return reason === undefined ? { name: check.name } : { name: check.name, reason };
  } catch (error) {
    return { name: check.name, reason: toError(error).message };
  }
}

import { type Clock, type Disposable, type Logger, type MetricsRegistry, toError } from '@sheaf/base';
import type { HealthCheck } from '../health/health-checks.ts';
import type { ApiRequest, ApiResponse } from '../pipeline/api-request.ts';
import type {
  ObservedResult,
  RequestObservation,
  RequestObserver,
  StreamObservation,
} from '../pipeline/request-observer.ts';
import { type AuditRecord, type AuditStage, auditLine } from './audit-event.ts';
import { type AuditPolicy, type AuditRule, ruleFor, usualAuditPolicy, wantsBodies } from './audit-policy.ts';

/** Where lines go. */
export interface AuditFile {
  /** Adds whole lines at the end. @throws Error when they could not be written; then none of them counts as written. */
  append(lines: string): Promise<void>;
  close(): Promise<void>;
}

export interface AuditLogOptions {
  readonly file: AuditFile;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: MetricsRegistry;
  readonly policy?: AuditPolicy;
}

const batchDelayMs = 500;
const batchSize = 500;
/** Events kept while the file cannot be written; later ones are dropped and counted. */
const queueLimit = 10_000;
const exception: AuditRule = { level: 'Metadata' };
/** Objects whose content is a secret, whatever the policy says. */
const sealed = new Set(['secrets', 'serviceaccounts/token', 'tokenreviews', 'certificatesigningrequests']);

/**
 * Writes an event for each request that the policy names: in batches, after the answer, never in its way. When the file cannot be
 * written, readiness and a metric say so, and requests go on.
 */
export class AuditLog implements RequestObserver {
  readonly #options: AuditLogOptions;
  readonly #policy: AuditPolicy;
  readonly #wantsBodies: boolean;
  readonly #queue: AuditRecord[] = [];
  #timer: Disposable | undefined;
  #writing: Promise<void> | undefined;
  #fault: string | undefined;
  #written = 0;
  #dropped = 0;
  #isClosed = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#policy = options.policy ?? usualAuditPolicy;
    this.#wantsBodies = wantsBodies(this.#policy);
    const events = options.metrics.counter({
      name: 'apiserver_audit_event_total',
      help: 'Audit events written.',
    });
    const dropped = options.metrics.counter({
      name: 'apiserver_audit_error_total',
      help: 'Audit events dropped because the file could not be written.',
    });
    options.metrics.onCollect(() => {
      events.of().set(this.#written);
      dropped.of().set(this.#dropped);
    });
  }

  /** For readiness. */
  get check(): HealthCheck {
    return {
      name: 'audit',
      check: () =>
        this.#fault &&
        `the audit log cannot be written: ${this.#fault}; ${this.#queue.length} events wait, ${this.#dropped} are lost`,
    };
  }

  begin({ auditId, request }: Parameters<RequestObserver['begin']>[0]): RequestObservation {
    return new AuditObservation({
      auditId,
      request,
      wantsBody: this.#wantsBodies,
      now: () => this.#options.clock.now(),
      ruleFor: (result) => this.#ruleFor(result),
      add: (record) => this.#add(record),
    });
  }

  /** Writes what waits; for tests and the end. */
  async flush(): Promise<void> {
    await this.#writing;
    if (this.#queue.length > 0) await this.#write();
  }

  /** Writes what waits, then closes the file. */
  async close(): Promise<void> {
    this.#timer?.dispose();
    await this.flush();
    this.#isClosed = true;
    await this.#options.file.close();
  }

  #ruleFor({ info, user, impersonator, response }: ObservedResult): AuditRule {
    const rule = ruleFor(this.#policy, info, impersonator ?? user);
    if (rule.level === 'None') return isExceptional(response, this.#policy) ? exception : rule;
    if (!info.isResource) return rule;
    const target = info.subresource === '' ? info.resource : `${info.resource}/${info.subresource}`;
    return sealed.has(target) ? { ...rule, level: 'Metadata' } : rule;
  }

  #add(record: AuditRecord): void {
    if (this.#isClosed) return;
    if (this.#queue.length >= queueLimit) {
      this.#dropped++;
      return;
    }
    this.#queue.push(record);
    if (this.#queue.length >= batchSize && !this.#fault) this.#start();
    else this.#timer ??= this.#options.clock.schedule(batchDelayMs, () => this.#start());
  }

  #start(): void {
    this.#timer?.dispose();
    this.#timer = undefined;
    this.#writing ??= this.#write().finally(() => {
      this.#writing = undefined;
      if (this.#queue.length > 0 && !this.#isClosed)
        this.#timer ??= this.#options.clock.schedule(batchDelayMs, () => this.#start());
    });
  }

  async #write(): Promise<void> {
    const batch = this.#queue.slice(0, batchSize);
    const lines = batch.map(auditLine);
    try {
      await this.#options.file.append(lines.join(''));
    } catch (error) {
      this.#failed(toError(error));
      return;
    }
    this.#queue.splice(0, batch.length);
    this.#written += batch.length;
    if (this.#fault)
      this.#options.logger.info('the audit log can be written again', { dropped: this.#dropped });
    this.#fault = undefined;
    if (this.#queue.length >= batchSize) await this.#write();
  }

  #failed(error: Error): void {
    if (!this.#fault) this.#options.logger.error('the audit log cannot be written', { cause: error });
    this.#fault = error.message;
  }
}

/** What is logged although no rule names it. */
function isExceptional({ status, body }: ApiResponse, policy: AuditPolicy): boolean {
  if (body.kind === 'upgrade') return policy.logsUpgrades ?? false;
  return (status === 401 || status === 403) && (policy.logsRefusals ?? false);
}

interface ObservationParts {
  readonly auditId: string;
  readonly request: ApiRequest;
  readonly wantsBody: boolean;
  readonly now: () => number;
  readonly ruleFor: (result: ObservedResult) => AuditRule;
  readonly add: (record: AuditRecord) => void;
}

/** One request. Annotations cost nothing until one is made. */
class AuditObservation implements RequestObservation {
  readonly request?: ApiRequest;
  readonly #parts: ObservationParts;
  readonly #receivedAt: number;
  #annotations: Map<string, string> | undefined;
  #body: Uint8Array | undefined;

  constructor(parts: ObservationParts) {
    this.#parts = parts;
    this.#receivedAt = parts.now();
    if (parts.wantsBody) this.request = this.#keepingBody(parts.request);
  }

  annotate(key: string, value: string): void {
    this.#annotations ??= new Map();
    this.#annotations.set(key, value);
  }

  end(result: ObservedResult): StreamObservation | undefined {
    const rule = this.#parts.ruleFor(result);
    if (rule.level === 'None') return undefined;
    const isStream = result.response.body.kind !== 'bytes';
    this.#record(rule, isStream ? 'ResponseStarted' : 'ResponseComplete', result);
    if (!isStream) return undefined;
    return { chunk() {}, ended: () => this.#record(rule, 'ResponseComplete', result) };
  }

  #record(rule: AuditRule, stage: AuditStage, result: ObservedResult): void {
    if (rule.omitStages?.includes(stage)) return;
    const { auditId, request, now, add } = this.#parts;
    add({
      auditId,
      level: rule.level,
      omitManagedFields: rule.omitManagedFields === true,
      stage,
      request,
      result,
      receivedAt: this.#receivedAt,
      at: now(),
      annotations: this.#annotations,
      requestBody: this.#body,
    });
  }

  #keepingBody(request: ApiRequest): ApiRequest {
    return {
      ...request,
      readBody: async (limitBytes) => {
        this.#body = await request.readBody(limitBytes);
        return this.#body;
      },
    };
  }
}

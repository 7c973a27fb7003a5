import { type Disposable, type Logger, toError } from '@sheaf/base';
import {
  openServerCertificates,
  type ServerCertificates,
  type ServerCertificatesOptions,
} from './server-certificates.ts';

export interface CertificateRenewalOptions extends ServerCertificatesOptions {
  readonly logger: Logger;
  /**
   * Called with the new set after leaf certificates were replaced: swap the TLS context
   * (`server.setSecureContext({ cert, key, ca })`), write the kubeconfig anew.
   */
  onRenewed(certificates: ServerCertificates): Promise<void> | void;
}

const checkMs = 6 * 3600_000;
const retryMs = 5 * 60_000;

/** Replaces leaf certificates when they are due. It looks at the clock every six hours, so steps of it do no harm. */
export class CertificateRenewal implements Disposable {
  readonly #options: CertificateRenewalOptions;
  #timer: Disposable | undefined;
  #renewAt: number;
  #isDisposed = false;

  constructor(current: ServerCertificates, options: CertificateRenewalOptions) {
    this.#options = options;
    this.#renewAt = current.renewAt;
    this.#schedule(checkMs);
  }

  dispose(): void {
    this.#isDisposed = true;
    this.#timer?.dispose();
  }

  #schedule(longestMs: number): void {
    if (this.#isDisposed) return;
    const { clock } = this.#options;
    const untilDue = Math.max(1000, this.#renewAt - clock.now());
    this.#timer = clock.schedule(Math.min(longestMs, untilDue), () => void this.#check());
  }

  async #check(): Promise<void> {
    if (this.#options.clock.now() < this.#renewAt) return this.#schedule(checkMs);
    try {
      const certificates = await openServerCertificates(this.#options);
      await this.#options.onRenewed(certificates);
      this.#renewAt = certificates.renewAt;
      this.#options.logger.info('certificates renewed', { names: certificates.created });
      this.#schedule(checkMs);
    } catch (error) {
      this.#options.logger.error('certificates could not be renewed', {
        error: toError(error).message,
        retryMs,
      });
      this.#renewAt = this.#options.clock.now() + retryMs;
      this.#schedule(retryMs);
    }
  }
}

import type { Encryption } from '@sheaf/apiserver/encryption/index';
import { type Disposable, disposable, type Logger, toError } from '@sheaf/base';

/** Brings everything that is to be sealed under the first key, while the server serves. Ends when disposed. */
export function resealInBackground(encryption: Encryption, logger: Logger): Disposable {
  const stop = new AbortController();
  encryption.reseal(stop.signal).then(
    (records) => {
      if (records > 0) logger.info('records sealed with the first encryption key', { records });
    },
    (error: unknown) => {
      if (!stop.signal.aborted) logger.error('records could not be sealed', { cause: toError(error) });
    },
  );
  return disposable(() => stop.abort(new Error('the server stops')));
}

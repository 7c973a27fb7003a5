import { timestampOf } from '@sheaf/api';
import type { Setting } from '@sheaf/api/virtualization/index';
import { type Clock, type Logger, StatusError, toError } from '@sheaf/base';
import { type Client, resources } from '@sheaf/client';
import { done, type ReconcileResult, waitFor } from '@sheaf/runtime';
import { type Foundation, foundations } from './foundations.ts';
import { type SettingPin, variableOf } from './pins.ts';
import { planSetting, type SettingFacts, type SettingStep } from './plan.ts';
import { findSetting, settingTable } from './setting-table.ts';

export interface SettingParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly pins: ReadonlyMap<string, SettingPin>;
}

/** What refuses a pinned value now may let it pass later: a machine that runs, a node that is not there. */
const refusedPinMs = 30_000;

/** Brings one setting into its form. What is refused never ends anything: it stands in the setting and is tried again. */
export async function reconcileSetting(
  parts: SettingParts,
  { name, observed }: { readonly name: string; readonly observed: Setting | undefined },
  signal: AbortSignal,
): Promise<ReconcileResult> {
  const definition = findSetting(name);
  if (!definition) return done;
  const pin = parts.pins.get(name);
  const facts: SettingFacts = { definition, pin, now: timestampOf(parts.clock) };
  try {
    await write(parts, planSetting(observed, facts), signal);
    return done;
  } catch (error) {
    if (pin?.value === undefined || pin.value === observed?.value || !isRefusal(error)) throw error;
    const why = `the value of the variable ${variableOf(name)} is refused: ${toError(error).message} It is tried again by itself.`;
    await write(parts, planSetting(observed, { ...facts, refusal: why }), signal);
    return waitFor(why, refusedPinMs);
  }
}

async function write({ client }: SettingParts, step: SettingStep, signal: AbortSignal): Promise<void> {
  if (step.action === 'create') await client.create(resources.settings, step.object, { signal });
  if (step.action === 'update') await client.update(resources.settings, step.object, { signal });
}

/** Not that somebody else was faster: then the object is looked at again. */
function isRefusal(error: unknown): boolean {
  if (!StatusError.is(error)) return false;
  const { code, reason } = error;
  return code >= 400 && code < 500 && reason !== 'AlreadyExists' && reason !== 'NotFound' && code !== 429;
}

/**
 * Makes the settings before the server says that it is ready. Never fails: what cannot be written is logged, and tried
 * again by the controllers.
 */
export async function makeSettings(parts: SettingParts, signal: AbortSignal): Promise<void> {
  const failed = new Map<string, string>();
  const attempt = async (name: string, work: Promise<unknown>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      failed.set(name, toError(error).message);
    }
  };
  const { client, logger } = parts;
  await attempt('what stands around them', makeFoundations(client, signal));
  await attempt(
    'all',
    client.list(resources.settings, { signal }).then(({ items }) => {
      const known = new Map(items.map((setting) => [setting.metadata.name, setting]));
      return Promise.all(
        settingTable.map(({ name }) =>
          attempt(name, reconcileSetting(parts, { name, observed: known.get(name) }, signal)),
        ),
      );
    }),
  );
  if (failed.size > 0)
    logger.warn('settings could not be written; this is tried again', {
      settings: Object.fromEntries(failed),
    });
}

/** Makes what is missing of the system's namespace and of what every user may read. */
export async function makeFoundations(client: Client, signal: AbortSignal): Promise<ReconcileResult> {
  await Promise.all(foundations.map((foundation) => makeFoundation(client, foundation, signal)));
  return done;
}

async function makeFoundation(
  client: Client,
  { resource, object }: Foundation,
  signal: AbortSignal,
): Promise<void> {
  try {
    await client.create(resource, object, { signal });
  } catch (error) {
    if (!StatusError.is(error, 'AlreadyExists')) throw error;
  }
}

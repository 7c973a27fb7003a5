import {
  type ExtensionAnswer,
  emptyAnswer,
  type PlainAnswer,
  type Route,
  type RouteRequest,
  textAnswer,
} from '@sheaf/api';
import { type JsonObject, StatusError } from '@sheaf/base';
import type { RequestParts } from '../requests.ts';
import { type Action, invalidBody } from './action-call.ts';
import { backupActions } from './backup-actions.ts';
import { cloneActions } from './clone-action.ts';
import { moveActions } from './move-actions.ts';
import { nicActions } from './nic-actions.ts';
import { powerActions } from './power-actions.ts';
import { quotaActions } from './quota-actions.ts';
import { removalRoute } from './removal-route.ts';
import { sizeActions } from './size-actions.ts';
import { templateActions } from './template-action.ts';
import { volumeActions } from './volume-actions.ts';

const actions: Readonly<Record<string, Action>> = {
  ...powerActions,
  ...volumeActions,
  ...nicActions,
  ...moveActions,
  ...backupActions,
  ...quotaActions,
  ...sizeActions,
  ...cloneActions,
  ...templateActions,
};

/** Harvester's actions on virtual machines; its clients name the kind in singular or plural. */
export function actionRoutes(parts: RequestParts): readonly Route[] {
  return ['virtualmachines', 'virtualmachine'].flatMap((plural) => {
    const path = `/v1/harvester/kubevirt.io.${plural}/{namespace}/{name}`;
    const shared = { method: 'POST', path, access: 'authorized', failure } as const;
    return [
      ...Object.entries(actions).map(
        ([action, act]): Route => ({ ...shared, action, handle: (request) => run(parts, act, request) }),
      ),
      { ...shared, handle: (request: RouteRequest) => unknownAction(request) },
      removalRoute(parts.client, path),
    ];
  });
}

async function run(parts: RequestParts, act: Action, request: RouteRequest): Promise<ExtensionAnswer> {
  await mayUpdate(request);
  const { namespace = '', name = '' } = request.parameters;
  const body = await readBody(request);
  const call = { ...parts, request, place: { namespace, name }, body, signal: request.signal };
  return (await act(call)) ?? emptyAnswer(204);
}

async function mayUpdate({ parameters, authorize }: RouteRequest): Promise<void> {
  const { namespace = '', name = '' } = parameters;
  const target = { group: 'kubevirt.io', resource: 'virtualmachines', namespace, name };
  await authorize({ verb: 'get', ...target });
  await authorize({ verb: 'update', ...target });
}

async function readBody({ body }: RouteRequest): Promise<JsonObject> {
  try {
    return (await body.json()) ?? {};
  } catch (error) {
    if (!StatusError.is(error, 'BadRequest')) throw error;
    throw invalidBody(`Failed to decode request body: ${error.message}`);
  }
}

async function unknownAction(request: RouteRequest): Promise<never> {
  await mayUpdate(request);
  const action = request.query.get('action');
  if (action === null)
    throw new StatusError({
      reason: 'MethodNotAllowed',
      message: 'MethodNotAllowed 405: name an action, such as ?action=start; changes are sent with PUT',
    });
  throw new StatusError({
    reason: 'Forbidden',
    message: `ActionNotAvailable 403: a virtual machine has no action ${JSON.stringify(action)}; use one of ${Object.keys(actions).join(', ')}`,
  });
}

/** Clients show the body as it is. */
function failure(error: StatusError): PlainAnswer {
  const isWorded = /^[A-Za-z]+ \d{3}: /.test(error.message);
  return textAnswer(error.code, isWorded ? error.message : `${error.reason} ${error.code}: ${error.message}`);
}

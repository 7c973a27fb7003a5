import type { KubeObject } from '../../meta/object.ts';
import { ensureSpec, fieldsAt, fill, objectAt } from '../fields.ts';

export function defaultFlowSchema(schema: KubeObject): void {
  const spec = ensureSpec(schema);
  if (!spec['matchingPrecedence']) spec['matchingPrecedence'] = 1000;
}

export function defaultPriorityLevel(level: KubeObject): void {
  const spec = ensureSpec(level);
  const exempt = objectAt(spec, 'exempt');
  if (exempt !== undefined) {
    fill(exempt, 'nominalConcurrencyShares', 0);
    fill(exempt, 'lendablePercent', 0);
  }
  const limited = objectAt(spec, 'limited');
  if (limited === undefined) return;
  fill(limited, 'nominalConcurrencyShares', 30);
  fill(limited, 'lendablePercent', 0);
  const queuing = objectAt(fieldsAt(limited, 'limitResponse'), 'queuing');
  if (queuing === undefined) return;
  if (!queuing['queues']) queuing['queues'] = 64;
  if (!queuing['handSize']) queuing['handSize'] = 8;
  if (!queuing['queueLengthLimit']) queuing['queueLengthLimit'] = 50;
}

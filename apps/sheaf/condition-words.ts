import type { KubeObject, Waiting } from '@sheaf/api';
import { listAt, textAt } from './connect.ts';

const someone = '; needs someone: ';
const reference = /(?:^|; )waits for ([A-Z]\w*) ([^\s;]+)/;

export function conditionOf(object: KubeObject, type: string): unknown {
  return listAt(object, 'status', 'conditions').find((condition) => condition['type'] === type);
}

/** A condition in the words of the house says what is waited for, whether it passes, and the way out. */
export function told(condition: unknown, state: string): Waiting {
  const [reason, message] = [textAt(condition, 'reason'), textAt(condition, 'message')];
  const words = message === '' ? reason : message;
  const end = words.indexOf(someone);
  if (end < 0) return { reason, nature: 'transient', text: `${state}: ${words}` };
  return fault(reason, `${state}: ${words.slice(0, end)}`, words.slice(end + someone.length));
}

/** A condition in these words says that something is waited for, whatever its type and status mean. */
export function houseWords(object: KubeObject): Waiting | undefined {
  const found = listAt(object, 'status', 'conditions').find((condition) =>
    /; (?:needs someone: |tried again by itself$)/.test(textAt(condition, 'message')),
  );
  return found && told(found, `${textAt(found, 'type')} is ${textAt(found, 'status')}`);
}

export function fault(reason: string, text: string, wayOut: string): Waiting {
  return { reason, text, wayOut, nature: 'fault' };
}

export interface Reference {
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** The objects that the conditions of an object say it waits for. */
export function referencesOf(object: KubeObject): readonly Reference[] {
  const found = listAt(object, 'status', 'conditions').flatMap((condition): Reference[] => {
    const [, kind, key] = reference.exec(textAt(condition, 'message')) ?? [];
    if (kind === undefined || key === undefined) return [];
    const slash = key.indexOf('/');
    return [{ kind, namespace: slash < 0 ? undefined : key.slice(0, slash), name: key.slice(slash + 1) }];
  });
  const keyOf = ({ kind, namespace, name }: Reference): string => `${kind} ${namespace ?? ''}/${name}`;
  return [...new Map(found.map((each) => [keyOf(each), each])).values()];
}

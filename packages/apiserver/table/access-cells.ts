import {
  ageCell,
  type CellSource,
  type CellSources,
  type Conditions,
  findCondition,
  isAbsent,
  nameOf,
  or,
  shaped,
} from './cell-source.ts';
import type { TableCell } from './columns.ts';
import { humanDuration } from './human-duration.ts';

interface Binding {
  readonly roleRef?: { readonly kind?: string; readonly name?: string };
  readonly subjects?:
    | readonly { readonly kind?: string; readonly namespace?: string; readonly name?: string }[]
    | null;
}

interface SigningRequest {
  readonly spec?: {
    readonly signerName?: string;
    readonly username?: string;
    readonly expirationSeconds?: number | null;
  };
  readonly status?: { readonly conditions?: Conditions; readonly certificate?: string | null };
}

interface FlowSchema {
  readonly spec?: {
    readonly priorityLevelConfiguration?: { readonly name?: string };
    readonly matchingPrecedence?: number;
    readonly distinguisherMethod?: { readonly type?: string } | null;
  };
  readonly status?: { readonly conditions?: Conditions };
}

interface PriorityLevel {
  readonly spec?: {
    readonly type?: string;
    readonly limited?: {
      readonly nominalConcurrencyShares?: number | null;
      readonly limitResponse?: {
        readonly queuing?: Readonly<
          Record<'queues' | 'handSize' | 'queueLengthLimit', number | undefined>
        > | null;
      };
    } | null;
  };
}

const bindingCells: CellSource = (object, now) => {
  const { roleRef, subjects } = shaped<Binding>(object);
  const names = (kind: string): string =>
    (subjects ?? [])
      .filter((subject) => subject.kind === kind)
      .map(({ namespace, name }) =>
        kind === 'ServiceAccount' ? `${or(namespace, '')}/${or(name, '')}` : or(name, ''),
      )
      .join(', ');
  return [
    nameOf(object),
    `${or(roleRef?.kind, '')}/${or(roleRef?.name, '')}`,
    ageCell(object, now),
    names('User'),
    names('Group'),
    names('ServiceAccount'),
  ];
};

function requestStatus({ status }: SigningRequest): string {
  const has = (type: string): boolean => findCondition(status?.conditions, type) !== undefined;
  const decision = has('Denied') ? 'Denied' : has('Approved') ? 'Approved' : 'Pending';
  return decision + (has('Failed') ? ',Failed' : '') + (status?.certificate ? ',Issued' : '');
}

const priorityLevelCells: CellSource = (object, now) => {
  const { spec } = shaped<PriorityLevel>(object);
  const limited = spec?.limited;
  const queuing = limited?.limitResponse?.queuing;
  const queueCells: readonly TableCell[] = queuing
    ? [or(queuing.queues, 0), or(queuing.handSize, 0), or(queuing.queueLengthLimit, 0)]
    : ['<none>', '<none>', '<none>'];
  return [
    nameOf(object),
    or(spec?.type, ''),
    limited ? or(limited.nominalConcurrencyShares, 0) : '<none>',
    ...queueCells,
    ageCell(object, now),
  ];
};

export const accessCells: CellSources = {
  'rbac.authorization.k8s.io/RoleBinding': bindingCells,
  'rbac.authorization.k8s.io/ClusterRoleBinding': bindingCells,
  'certificates.k8s.io/CertificateSigningRequest': (object, now) => {
    const request = shaped<SigningRequest>(object);
    const { signerName, username, expirationSeconds } = request.spec ?? {};
    return [
      nameOf(object),
      ageCell(object, now),
      signerName || '<none>',
      or(username, ''),
      isAbsent(expirationSeconds) ? '<none>' : humanDuration(expirationSeconds * 1000),
      requestStatus(request),
    ];
  },
  'flowcontrol.apiserver.k8s.io/FlowSchema': (object, now) => {
    const { spec, status } = shaped<FlowSchema>(object);
    return [
      nameOf(object),
      or(spec?.priorityLevelConfiguration?.name, ''),
      or(spec?.matchingPrecedence, 0),
      or(spec?.distinguisherMethod?.type, '<none>'),
      ageCell(object, now),
      or(findCondition(status?.conditions, 'Dangling')?.status, '?'),
    ];
  },
  'flowcontrol.apiserver.k8s.io/PriorityLevelConfiguration': priorityLevelCells,
};

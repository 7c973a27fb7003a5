import { resources } from '@sheaf/client';
import type { Installation } from '../../e2e/installation.ts';
import { engineContainers } from '../../workloads/container-remains.ts';
import { daemonSet, deployment, job, statefulSet } from './scene.ts';

export interface DeedPlace {
  readonly sheaf: Installation;
  readonly nodeName: string;
  /** Grows from round to round. */
  readonly number: number;
}

export interface Deed {
  /** May fail at any line, since Sheaf goes in the middle of it. */
  readonly begin: (place: DeedPlace) => Promise<unknown>;
  /** What brings the scene back, once Sheaf is there again. */
  readonly mend?: (place: DeedPlace) => Promise<unknown>;
}

/** All of them in turn. */
export const deeds: Readonly<Record<string, Deed>> = {
  drain: {
    begin: ({ sheaf, nodeName }) =>
      sheaf.tryKubectl([
        ...['drain', nodeName, '--ignore-daemonsets', '--delete-emptydir-data'],
        ...['--force', '--timeout=20s'],
      ]),
    mend: ({ sheaf, nodeName }) => sheaf.kubectl(['uncordon', nodeName]),
  },
  rollout: { begin: ({ sheaf, number }) => sheaf.apply(deployment(`v${number}`)) },
  'volume set': { begin: restart('statefulset/db') },
  undo: { begin: ({ sheaf }) => sheaf.tryKubectl(['rollout', 'undo', 'deployment/web']) },
  job: { begin: ({ sheaf, number }) => sheaf.apply(job(`work-${number}`)) },
  container: { begin: killContainer },
  pods: {
    begin: ({ sheaf }) => sheaf.tryKubectl(['delete', 'pod', '-l', 'app in (web,agent,db)', '--wait=false']),
  },
  scale: {
    begin: ({ sheaf, number }) =>
      sheaf.tryKubectl(['scale', 'deployment/web', `--replicas=${1 + (number % 5)}`]),
  },
  'scale of volume set': { begin: ({ sheaf, number }) => sheaf.apply(statefulSet(1 + (number % 2))) },
  'daemon set': { begin: restart('daemonset/agent') },
  cron: {
    begin: ({ sheaf, number }) =>
      sheaf.tryKubectl(['create', 'job', `tick-${number}`, '--from=cronjob/tick']),
  },
  remove: {
    begin: ({ sheaf, number }) => remove(sheaf, number % 2 === 0 ? 'foreground' : 'background', false),
    async mend({ sheaf }) {
      await remove(sheaf, 'background', true);
      await sheaf.apply(deployment('again'), statefulSet(2), daemonSet);
    },
  },
  orphan: {
    begin: ({ sheaf }) => sheaf.tryKubectl([...removal, '--cascade=orphan', '--wait=false']),
    async mend({ sheaf, number }) {
      await sheaf.kubectl([...removal, '--cascade=orphan', '--ignore-not-found']);
      await sheaf.apply(deployment(`after-${number}`), statefulSet(2), daemonSet);
    },
  },
};

const removal = ['delete', 'deployment/web', 'statefulset/db', 'daemonset/agent'];

function restart(what: string): Deed['begin'] {
  return ({ sheaf }) => sheaf.tryKubectl(['rollout', 'restart', what]);
}

async function remove(sheaf: Installation, cascade: string, isAwaited: boolean): Promise<unknown> {
  return await sheaf.tryKubectl([
    ...[...removal, '--ignore-not-found', `--cascade=${cascade}`, `--wait=${isAwaited}`],
    ...(isAwaited ? ['--timeout=60s'] : []),
  ]);
}

/** As when the kernel runs out of memory. */
async function killContainer({ sheaf, number }: DeedPlace): Promise<void> {
  const client = await sheaf.client();
  const { items } = await client.list(resources.pods, { namespace: 'default' });
  const names = new Set(items.map(({ metadata }) => `container-${metadata.uid}_`));
  const running = (await engineContainers(sheaf.directory)).filter(
    ({ name, isRunning }) => isRunning && [...names].some((start) => name.startsWith(start)),
  );
  const victim = running[number % Math.max(1, running.length)];
  if (victim !== undefined && victim.processId > 1) process.kill(victim.processId, 'SIGKILL');
}

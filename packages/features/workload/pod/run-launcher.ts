import { identityOf } from '@sheaf/api';
import type { NodeObject } from '@sheaf/api/node/index';
import {
  amountsOf,
  type Container,
  type EphemeralContainer,
  type Pod,
  type Service,
} from '@sheaf/api/workload/index';
import { toError } from '@sheaf/base';
import type { ContainerImage, ContainerSpec, Containers, PodVolume, PodVolumes } from '@sheaf/ports';
import type { StartProblem } from './container-status.ts';
import { environmentOf, expand } from './environment.ts';
import type { FailedStarts } from './failed-starts.ts';
import type { ImageKeeper } from './image-keeper.ts';
import type { RunOrder } from './plan.ts';
import type { PodData } from './pod-content.ts';
import { containerId, podLabels, runLabels } from './run-ids.ts';
import { mountsOf } from './run-mounts.ts';
import { resourcesOf } from './run-resources.ts';
import { securityOf } from './run-security.ts';
import { serviceEnvironment } from './service-environment.ts';
import type { StartHooks } from './start-hooks.ts';

export interface RunLauncherOptions {
  readonly containers: Containers;
  readonly volumes: PodVolumes;
  readonly images: ImageKeeper;
  readonly startHooks: StartHooks;
  readonly failed: FailedStarts;
  readonly tell: (pod: Pod, event: PodEvent) => void;
}

export interface PodEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What the containers of a pod are started with. */
export interface LaunchFacts {
  readonly pod: Pod;
  readonly data: PodData;
  readonly volumes: readonly PodVolume[];
  /** Those that its namespace sees. */
  readonly services: readonly Service[];
  readonly node: NodeObject | undefined;
  readonly hostAddress: string;
  readonly podAddresses: readonly string[];
  /** The run of a container that runs now. */
  readonly runningOf: (container: string) => string | undefined;
}

export type LaunchOutcome =
  | { readonly state: 'started' }
  /** Its image is on the way. */
  | { readonly state: 'waiting'; readonly problem: StartProblem }
  | { readonly state: 'failed'; readonly problem: StartProblem; readonly retryMs: number };

const retryMs = 10_000;

interface StartOrder {
  readonly pod: Pod;
  readonly container: Container;
  /** Names the start: of this run, in this life of the pod. */
  readonly startId: string;
}

/** Starts runs of containers: gets the image, settles what the run is to be like, and says what stands in the way. */
export class RunLauncher {
  readonly #options: RunLauncherOptions;

  constructor(options: RunLauncherOptions) {
    this.#options = options;
  }

  async launch(order: RunOrder, facts: LaunchFacts, signal: AbortSignal): Promise<LaunchOutcome> {
    const { images } = this.#options;
    const { pod } = facts;
    const { uid } = identityOf(pod);
    const runId = containerId(uid, { container: order.container.name, attempt: order.attempt });
    // Another life of the pod is another chance.
    const startId = `${runId}@${order.sandboxId}`;
    const rest = this.#options.failed.restOf(startId);
    if (rest) return { state: 'failed', ...rest };
    const answer = await images.find({ pod, container: order.container, runId }, signal);
    if ('pulling' in answer)
      return { state: 'waiting', problem: pullOf(order.container, pod, answer.failure) };
    if ('problem' in answer) return { state: 'failed', ...answer };
    const messageFile = await this.#options.volumes.ensureMessageFile(uid, runId, signal);
    const planned = planRun(order, { ...facts, image: answer.image, runId, messageFile });
    if ('problem' in planned)
      return this.#refused(pod, { reason: 'CreateContainerConfigError', message: planned.problem });
    return this.#start(planned.spec, { pod, container: order.container, startId }, signal);
  }

  async #start(
    spec: ContainerSpec,
    { pod, container, startId }: StartOrder,
    signal: AbortSignal,
  ): Promise<LaunchOutcome> {
    const { containers, images, failed, startHooks, tell } = this.#options;
    try {
      const observed = await containers.startContainer(spec, signal);
      images.forget(spec.id);
      failed.forget(startId);
      tell(pod, { type: 'Normal', reason: 'Created', message: `Created container: ${container.name}` });
      if (observed.end?.cause === 'start-failed')
        tell(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${observed.end.message}` });
      else tell(pod, { type: 'Normal', reason: 'Started', message: `Started container ${container.name}` });
      if (observed.state === 'running') startHooks.begin({ pod, container, observed }, signal);
      return { state: 'started' };
    } catch (error) {
      if (signal.aborted) throw error;
      const problem = { reason: 'CreateContainerError', message: toError(error).message };
      failed.note(startId, problem, retryMs);
      return this.#refused(pod, problem);
    }
  }

  #refused(pod: Pod, problem: StartProblem): LaunchOutcome {
    this.#options.tell(pod, { type: 'Warning', reason: 'Failed', message: `Error: ${problem.message}` });
    return { state: 'failed', problem, retryMs };
  }
}

interface RunFacts extends LaunchFacts {
  readonly image: ContainerImage;
  readonly runId: string;
  readonly messageFile: string;
}

type PlannedRun = { readonly spec: ContainerSpec } | { readonly problem: string };

function planRun(order: RunOrder, facts: RunFacts): PlannedRun {
  const { container } = order;
  const { pod, node, volumes, messageFile } = facts;
  const environment = environmentOf({ ...facts, container, ...surroundingsOf(facts) });
  if ('problem' in environment) return environment;
  const { values } = environment;
  const mounts = mountsOf({ container, volumes, environment: values, messageFile });
  if ('problem' in mounts) return mounts;
  const security = securityOf(pod, container, facts.image);
  if ('problem' in security) return security;
  const target = targetOf(container, facts);
  if ('problem' in target) return target;
  return {
    spec: {
      ...shapeOf(order, facts),
      ...commandOf(container, values),
      ...target,
      environment: values,
      mounts: mounts.mounts,
      security: security.security,
      resources: resourcesOf(pod, container, amountsOf(node?.status?.capacity)['memory'] ?? 0),
    },
  };
}

/** Whose processes it is to see. */
function targetOf(
  { targetContainerName: name }: EphemeralContainer,
  { runningOf }: RunFacts,
): Pick<ContainerSpec, 'processesOf'> | { readonly problem: string } {
  if (!name) return {};
  const processesOf = runningOf(name);
  return processesOf === undefined
    ? { problem: `unable to find target container ${JSON.stringify(name)}: it does not run now` }
    : { processesOf };
}

function surroundingsOf({ pod, services, node }: RunFacts): {
  readonly services: Readonly<Record<string, string>>;
  readonly allocatable: Readonly<Record<string, string>>;
} {
  const seen = pod.spec.enableServiceLinks === false ? services.filter(isKubernetes) : services;
  return { services: serviceEnvironment(seen), allocatable: node?.status?.allocatable ?? {} };
}

function isKubernetes({ metadata }: Service): boolean {
  return metadata.namespace === 'default' && metadata.name === 'kubernetes';
}

function shapeOf(
  { container, crashes, sandboxId }: RunOrder,
  { pod, image, runId }: RunFacts,
): Omit<ContainerSpec, 'environment' | 'mounts' | 'security' | 'resources'> {
  const { namespace, name, uid } = identityOf(pod);
  return {
    id: runId,
    sandboxId,
    title: `${namespace}/${name}/${container.name}`,
    labels: {
      [podLabels.uid]: uid,
      [podLabels.name]: name,
      [podLabels.namespace]: namespace,
      [podLabels.container]: container.name,
      ...runLabels({ crashes, image: container.image ?? '' }),
    },
    imageId: image.id,
    ...(container.workingDir && { workingDirectory: container.workingDir }),
    hasInput: container.stdin === true,
    ...(container.stdinOnce && { endsInputOnce: true }),
    hasTerminal: container.tty === true,
    ...(container.lifecycle?.stopSignal && { stopSignal: container.lifecycle.stopSignal }),
  };
}

function commandOf(
  { command, args }: Container,
  environment: Readonly<Record<string, string>>,
): Pick<ContainerSpec, 'entryPoint' | 'arguments'> {
  const expanded = (parts: readonly string[]): readonly string[] =>
    parts.map((part) => expand(part, environment));
  return {
    ...(command && { entryPoint: expanded(command) }),
    ...(args && { arguments: expanded(args) }),
  };
}

/** A pull that follows a failed one does not hide it. */
function pullOf({ name, image }: Container, { spec }: Pod, failure: string | undefined): StartProblem {
  if (failure !== undefined)
    return { reason: 'ErrImagePull', message: `${failure}; it is being pulled again` };
  const isInit = spec.initContainers?.some((each) => each.name === name) === true;
  return { reason: isInit ? 'PodInitializing' : 'ContainerCreating', message: `Pulling image "${image}"` };
}

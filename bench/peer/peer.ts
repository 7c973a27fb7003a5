import { mkdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { connect } from '../client/connection.ts';
import { readKubeconfig, type Target } from '../client/kubeconfig.ts';
import { makeCertificates, type PeerCertificates } from './certificates.ts';
import { type Child, startChild } from './child.ts';
import { writeKubeconfig } from './kubeconfig.ts';

/** Where the programs are and what to start. Without `controllerManager` there is no controller at all. */
export interface PeerOptions {
  readonly directory: string;
  readonly etcd: string;
  readonly apiServer: string;
  readonly controllerManager?: string;
  /** Which of its controllers run; if absent, those that an API server without nodes can use. */
  readonly controllers?: readonly string[];
}

/** A running kube-apiserver with its etcd. The owner calls `stop`; data and kubeconfig stay in the directory. */
export interface Peer {
  readonly kubeconfig: string;
  /** Process ids of everything that serves the API: etcd and kube-apiserver. */
  pids(): readonly number[];
  /** Milliseconds from the start of the two programs to `/readyz`. */
  readonly startMilliseconds: number;
  /** Stops both, starts both on the same data; answers the milliseconds from start to `/readyz`. */
  restart(): Promise<number>;
  stop(): Promise<void>;
}

interface Ports {
  readonly etcdClient: number;
  readonly etcdPeer: number;
  readonly api: number;
}

const readyDeadlineMilliseconds = 120_000;

/** Starts etcd and kube-apiserver with default admission, certificates of its own and RBAC, and waits for `/readyz`. */
export async function startPeer(options: PeerOptions): Promise<Peer> {
  const directory = resolve(options.directory);
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const certificates = await makeCertificates(directory);
  const [etcdClient, etcdPeer, api] = await freePorts(3);
  const ports: Ports = { etcdClient: etcdClient ?? 0, etcdPeer: etcdPeer ?? 0, api: api ?? 0 };
  const kubeconfig = join(directory, 'kubeconfig');
  await writeKubeconfig(kubeconfig, `https://127.0.0.1:${ports.api}`, certificates);

  let children: readonly Child[] = [];
  let controllers: Child | undefined;
  const start = async (): Promise<number> => {
    const begun = performance.now();
    const etcd = startChild(options.etcd, etcdArguments(directory, ports), join(directory, 'etcd.log'));
    const server = startChild(
      options.apiServer,
      apiServerArguments(directory, ports, certificates),
      join(directory, 'kube-apiserver.log'),
    );
    children = [server, etcd];
    await waitUntilReady(kubeconfig, children, directory);
    const milliseconds = performance.now() - begun;
    if (options.controllerManager === undefined) return milliseconds;
    const args = [
      ...controllerArguments(directory, kubeconfig, certificates),
      `--controllers=${(options.controllers ?? usualControllers).join(',')}`,
    ];
    controllers = startChild(options.controllerManager, args, join(directory, 'kube-controller-manager.log'));
    return milliseconds;
  };
  const stop = async (): Promise<void> => {
    await controllers?.stop();
    for (const child of children) await child.stop();
    controllers = undefined;
    children = [];
  };
  let startMilliseconds = 0;
  try {
    startMilliseconds = await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    kubeconfig,
    pids: () => children.map((child) => child.pid),
    startMilliseconds,
    restart: async () => {
      await stop();
      return start();
    },
    stop,
  };
}

function etcdArguments(directory: string, ports: Ports): readonly string[] {
  const client = `http://127.0.0.1:${ports.etcdClient}`;
  const peer = `http://127.0.0.1:${ports.etcdPeer}`;
  return [
    `--data-dir=${join(directory, 'etcd')}`,
    `--listen-client-urls=${client}`,
    `--advertise-client-urls=${client}`,
    `--listen-peer-urls=${peer}`,
    `--initial-advertise-peer-urls=${peer}`,
    `--initial-cluster=default=${peer}`,
    '--quota-backend-bytes=8589934592',
  ];
}

function apiServerArguments(
  directory: string,
  ports: Ports,
  certificates: PeerCertificates,
): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${ports.etcdClient}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=192.0.2.1',
    `--secure-port=${ports.api}`,
    `--cert-dir=${directory}`,
    `--tls-cert-file=${certificates.server}`,
    `--tls-private-key-file=${certificates.serverKey}`,
    `--client-ca-file=${certificates.ca}`,
    `--requestheader-client-ca-file=${certificates.ca}`,
    '--requestheader-allowed-names=front-proxy-client',
    '--requestheader-username-headers=X-Remote-User',
    '--requestheader-group-headers=X-Remote-Group',
    '--requestheader-extra-headers-prefix=X-Remote-Extra-',
    `--service-account-key-file=${certificates.serviceAccountKey}`,
    `--service-account-signing-key-file=${certificates.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
    '--service-cluster-ip-range=10.0.0.0/16',
    '--authorization-mode=Node,RBAC',
    '--allow-privileged=true',
  ];
}

/** Pods have no node here; only what an API server with its own few controllers does is of interest. */
const usualControllers = [
  'namespace',
  'garbagecollector',
  'serviceaccount',
  'serviceaccount-token',
  'root-ca-certificate-publisher-controller',
  'resourcequota',
  'csrsigning',
  'csrapproving',
  'clusterrole-aggregation',
];

function controllerArguments(
  directory: string,
  kubeconfig: string,
  certificates: PeerCertificates,
): readonly string[] {
  return [
    `--kubeconfig=${kubeconfig}`,
    `--authentication-kubeconfig=${kubeconfig}`,
    `--authorization-kubeconfig=${kubeconfig}`,
    `--cert-dir=${directory}`,
    `--root-ca-file=${certificates.ca}`,
    `--service-account-private-key-file=${certificates.serviceAccountKey}`,
    `--cluster-signing-cert-file=${certificates.ca}`,
    `--cluster-signing-key-file=${certificates.caKey}`,
    '--use-service-account-credentials=true',
    '--leader-elect=false',
    '--secure-port=0',
  ];
}

async function waitUntilReady(
  kubeconfig: string,
  children: readonly Child[],
  directory: string,
): Promise<void> {
  const target = await readKubeconfig(kubeconfig);
  const deadline = performance.now() + readyDeadlineMilliseconds;
  while (performance.now() < deadline) {
    if (children.some((child) => child.hasExited()))
      throw new Error(`a server ended at its start; its log is in ${directory}`);
    if (await isReady(target)) return;
    await delay(50);
  }
  throw new Error(
    `kube-apiserver was not ready in ${readyDeadlineMilliseconds} ms; its log is in ${directory}`,
  );
}

async function isReady(target: Target): Promise<boolean> {
  try {
    const connection = await connect(target, 'http/1.1');
    const answer = await connection.request({ method: 'GET', path: '/readyz' });
    connection.close();
    return answer.status === 200;
  } catch {
    return false;
  }
}

async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer());
  const ports = await Promise.all(
    servers.map(
      (server) =>
        new Promise<number>((resolvePort) => {
          server.listen(0, '127.0.0.1', () => {
            const address = server.address();
            resolvePort(typeof address === 'object' && address !== null ? address.port : 0);
          });
        }),
    ),
  );
  await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
  return ports;
}

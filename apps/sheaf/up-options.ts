import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

export interface UpOptions {
  /** Absolute or relative to the working directory. */
  readonly dataDir: string;
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  /** A file with an `audit.k8s.io/v1 Policy`; without it the usual policy holds. */
  readonly auditPolicyFile?: string;
  /** Whether this host runs pods; it does, if absent. */
  readonly hasContainers?: boolean;
  /** Where variables are looked up that fix settings: `HARVESTER_NAME` and `HARVESTER_NAME_DEFAULT_VALUE`. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A mistake on the command line; the message is for its user. */
export class UsageError extends Error {}

const levels = ['debug', 'info', 'warn', 'error'] as const;

export const upUsage = `Usage: sheaf up [options]

  --data-dir DIR      where everything is kept (default: $SHEAF_DATA_DIR, /var/lib/sheaf as root, ~/.local/share/sheaf otherwise)
  --listen HOST:PORT  where to serve (default: 127.0.0.1:6443; port 0 takes a free one)
  --audit-policy FILE what the audit log tells: an audit.k8s.io/v1 Policy (default: writes, looks at secrets, refusals)
  --without-containers
                      no pods run here, and podman is never started; those that run go on, and nobody looks after them
  --log-level LEVEL   debug, info, warn or error (default: info); logs go to standard error
`;

/** @throws UsageError */
export function readUpOptions(args: readonly string[], environment: NodeJS.ProcessEnv): UpOptions | 'help' {
  const values = parse(args);
  if (values.help) return 'help';
  const { host, port } = readListen(values.listen ?? '127.0.0.1:6443');
  const level = levels.find((item) => item === (values['log-level'] ?? 'info'));
  if (!level) throw new UsageError(`--log-level is one of ${levels.join(', ')}`);
  return {
    dataDir: values['data-dir'] ?? environment['SHEAF_DATA_DIR'] ?? defaultDataDir(),
    host,
    port,
    logLevel: level,
    environment,
    hasContainers: values['without-containers'] !== true,
    ...(values['audit-policy'] === undefined ? {} : { auditPolicyFile: values['audit-policy'] }),
  };
}

function parse(args: readonly string[]): {
  help?: boolean;
  listen?: string;
  'data-dir'?: string;
  'log-level'?: string;
  'audit-policy'?: string;
  'without-containers'?: boolean;
} {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        help: { type: 'boolean', short: 'h' },
        listen: { type: 'string' },
        'data-dir': { type: 'string' },
        'log-level': { type: 'string' },
        'audit-policy': { type: 'string' },
        'without-containers': { type: 'boolean' },
      },
    });
    return values;
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

function readListen(text: string): { host: string; port: number } {
  const match = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (!match || port > 65535)
    throw new UsageError(
      `--listen wants HOST:PORT, e.g. 127.0.0.1:6443 or [::1]:6443, not ${JSON.stringify(text)}`,
    );
  return { host: match[1] ?? match[2] ?? '', port };
}

/** Where everything is kept when nobody says otherwise. */
export function defaultDataDir(): string {
  return process.getuid?.() === 0 ? '/var/lib/sheaf' : join(homedir(), '.local/share/sheaf');
}

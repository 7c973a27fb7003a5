/** A command of `sheaf`: takes its arguments, resolves with the exit code. */
type Command = (args: readonly string[]) => Promise<number>;

/** Loaded on demand, so that each command starts as fast as it can. */
const commands: Readonly<
  Record<string, { readonly summary: string; readonly load: () => Promise<Command> }>
> = {
  up: {
    summary: 'start the control plane in the foreground',
    load: async () => (await import('./up.ts')).up,
  },
  status: {
    summary: 'show how the control plane is and what waits',
    load: async () => (await import('./status.ts')).status,
  },
  why: {
    summary: 'explain why an object is not done: KIND/NAME',
    load: async () => (await import('./why.ts')).why,
  },
  vm: {
    summary: 'make, start, stop and reach virtual machines',
    load: async () => (await import('./vm/vm.ts')).vm,
  },
  image: {
    summary: 'list, fetch and send images of virtual machines',
    load: async () => (await import('./vm/image.ts')).image,
  },
  images: {
    summary: 'list, load and remove images of containers',
    load: async () => (await import('./images.ts')).images,
  },
  bundle: {
    summary: 'carry charts and images of add-ons to hosts without a network',
    load: async () => (await import('./bundle/bundle.ts')).bundle,
  },
  backup: {
    summary: 'copy the store and its keys into files',
    load: async () => (await import('./backup.ts')).backup,
  },
  restore: {
    summary: 'put a backup in place of the store',
    load: async () => (await import('./restore.ts')).restore,
  },
  shutdown: {
    summary: 'stop all virtual machines in order, before the host is turned off',
    load: async () => (await import('./shutdown.ts')).shutdown,
  },
  'rotate-key': {
    summary: 'seal secrets with a new key from the next start on',
    load: async () => (await import('./rotate-key.ts')).rotateKey,
  },
};

export async function runCommand(args: readonly string[]): Promise<number> {
  const [name = 'help', ...rest] = args;
  const command = commands[name];
  if (command) return (await command.load())(rest);
  const isHelp = name === 'help' || name === '--help' || name === '-h';
  const write = isHelp ? process.stdout : process.stderr;
  if (!isHelp) write.write(`sheaf: there is no command ${JSON.stringify(name)}\n\n`);
  write.write(usage());
  return isHelp ? 0 : 2;
}

function usage(): string {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  sheaf ${name.padEnd(10)} ${summary}`,
  );
  return `Usage:\n${lines.join('\n')}\n\nEach command explains itself with --help.\n`;
}

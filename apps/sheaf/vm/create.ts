import { readFile } from 'node:fs/promises';
import type { KubeObject } from '@sheaf/api';
import { type Client, resources } from '@sheaf/client';
import { textAt } from '../connect.ts';
import { UsageError } from '../up-options.ts';
import { choiceOf, ensureImage, findImage, isAddress, waitForImage } from './images.ts';
import { type MachineCall, type MachineCommand, textOf, textsOf } from './machine-command.ts';
import { waitForMachine } from './machine-steps.ts';
import { asYaml, type ImageChoice, type MachineChoice, machineManifests } from './manifest.ts';
import { secondsOf, waitOptions } from './wait-options.ts';

export const create: MachineCommand = {
  summary: 'Makes a virtual machine, starts it and waits until it runs',
  words: 'NAME [options]',
  options: {
    ...waitOptions.options,
    image: { type: 'string' },
    cpu: { type: 'string' },
    memory: { type: 'string' },
    disk: { type: 'string', multiple: true },
    network: { type: 'string', multiple: true },
    'ssh-key': { type: 'string', multiple: true },
    'user-data': { type: 'string' },
    'run-strategy': { type: 'string' },
    'dry-run': { type: 'boolean' },
    output: { type: 'string', short: 'o' },
  },
  help: `  --image IMAGE        what its disk begins with: an https:// address, or an image that is there
  --cpu N              default: 1
  --memory SIZE        default: 1Gi
  --disk SIZE          the first is the disk that it boots from, further ones are empty; default: 10Gi, or the image's size
  --network NS/NAME    a network of the host, repeatable; default: the pod network
  --ssh-key KEY        a file with a public key, or the name of a key pair; repeatable
  --user-data FILE     what cloud-init gets
  --run-strategy WORD  Always, RerunOnFailure (default), Manual, Once or Halted
  --dry-run            make nothing; with -o yaml or json print what would be made
  -o, --output FORMAT  yaml or json
${waitOptions.help}`,
  run: createMachine,
};

async function createMachine(call: MachineCall): Promise<number> {
  const { client, namespace, flags } = call;
  const isDryRun = flags['dry-run'] === true;
  const format = readFormat(textOf(flags, 'output'));
  const choice = await choose(call, isDryRun);
  const objects = machineManifests(choice);
  if (format) process.stdout.write(format === 'yaml' ? asYaml(objects) : jsonOf(objects));
  for (const object of objects) await make(client, object, isDryRun);
  const startsByItself = !['Halted', 'Manual'].includes(choice.runStrategy);
  if (isDryRun || flags['no-wait'] === true || !startsByItself) return 0;
  return await waitForMachine(client, {
    place: { namespace, name: choice.name },
    wanted: 'Running',
    timeoutSeconds: secondsOf(flags),
  });
}

async function choose(call: MachineCall, isDryRun: boolean): Promise<MachineChoice> {
  const {
    client,
    namespace,
    flags,
    given: [name = ''],
  } = call;
  const image = await imageOf(call, isDryRun);
  return {
    namespace,
    name,
    image,
    cpu: readCount(textOf(flags, 'cpu') ?? '1'),
    memory: textOf(flags, 'memory') ?? '1Gi',
    disks: disksOf(textsOf(flags, 'disk'), image),
    networks: textsOf(flags, 'network').map((each) => (each.includes('/') ? each : `${namespace}/${each}`)),
    ...(await keysOf(client, namespace, textsOf(flags, 'ssh-key'))),
    userData: await userDataOf(textOf(flags, 'user-data')),
    runStrategy: textOf(flags, 'run-strategy') ?? 'RerunOnFailure',
  };
}

/** The server looks at it in a dry run as well: what it would refuse is refused now. */
async function make(client: Client, object: KubeObject, dryRun: boolean): Promise<void> {
  const resource = object.kind === 'Secret' ? resources.secrets : resources.virtualMachines;
  await client.create<KubeObject>(resource, object, { dryRun });
}

function jsonOf(objects: readonly KubeObject[]): string {
  const [only] = objects;
  const shown = objects.length === 1 ? only : { apiVersion: 'v1', kind: 'List', items: objects };
  return `${JSON.stringify(shown, undefined, 2)}\n`;
}

function readFormat(text: string | undefined): 'yaml' | 'json' | undefined {
  if (text === undefined || text === 'yaml' || text === 'json') return text;
  throw new UsageError(`-o ${text} is unknown; use yaml or json`);
}

function readCount(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text)) return Number(text);
  throw new UsageError(`--cpu ${text} is no number of processors`);
}

async function imageOf(
  { client, namespace, flags }: MachineCall,
  isDryRun: boolean,
): Promise<ImageChoice | undefined> {
  const word = textOf(flags, 'image');
  if (word === undefined) return undefined;
  const found = isAddress(word) ? undefined : await findImage(client, namespace, word);
  if (found) return choiceOf(await waitForImage(client, found, secondsOf(flags)));
  if (!isAddress(word))
    throw new Error(
      `there is no image ${word} in ${namespace}. See sheaf image ls, or add it: sheaf image add NAME --url URL`,
    );
  if (isDryRun)
    throw new Error(
      'a dry run fetches no image. Add it first (sheaf image add NAME --url URL), and name it here',
    );
  const made = await ensureImage(client, { namespace, url: word });
  return choiceOf(await waitForImage(client, made, secondsOf(flags)));
}

const gibibyte = 2 ** 30;

function disksOf(given: readonly string[], image: ImageChoice | undefined): readonly string[] {
  if (given.length > 0) return given;
  const gibibytes = Math.max(10, Math.ceil((image?.bytes ?? 0) / gibibyte));
  return [`${gibibytes}Gi`];
}

async function userDataOf(path: string | undefined): Promise<string | undefined> {
  return path === undefined ? undefined : await readFile(path, 'utf8');
}

interface Keys {
  readonly sshKeys: readonly string[];
  readonly keyPairs: readonly string[];
}

/** Files with public keys, or key pairs that the server has. */
async function keysOf(client: Client, namespace: string, words: readonly string[]): Promise<Keys> {
  const sshKeys: string[] = [];
  const keyPairs: string[] = [];
  for (const word of words) {
    const text = await readKeyFile(word);
    if (text !== undefined) {
      sshKeys.push(...text.split('\n').filter((line) => line.trim() !== ''));
      continue;
    }
    const [place = namespace, name = word] = word.includes('/') ? word.split('/') : [];
    const pair = await client.find(resources.keyPairs, { namespace: place, name });
    if (!pair)
      throw new Error(
        `--ssh-key ${word} is neither a file nor a key pair of ${place}. Give the path of a public key, such as ~/.ssh/id_ed25519.pub`,
      );
    sshKeys.push(textAt(pair, 'spec', 'publicKey'));
    keyPairs.push(`${place}/${name}`);
  }
  return { sshKeys, keyPairs };
}

async function readKeyFile(path: string): Promise<string | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  if (text?.includes('PRIVATE KEY') === true)
    throw new Error(`${path} is a private key, which nobody else may have. Give the public one: ${path}.pub`);
  return text;
}

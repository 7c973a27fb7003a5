import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Client, resources } from '@sheaf/client';
import { SeededRandom, startTestServer, TestClock, type TestServer } from '@sheaf/testkit';
import {
  SimulatedContainerHost,
  SimulatedContainerImages,
  SimulatedContainers,
} from '@sheaf/testkit/containers/index';
import { imageRoutes } from './image-routes.ts';

const place = '/v1/sheaf/nodes/node-1/images';
const signal = new AbortController().signal;

interface World {
  readonly server: TestServer;
  readonly host: SimulatedContainerHost;
  readonly containers: SimulatedContainers;
  /** As `STATUS TEXT`. */
  ask(method: 'GET' | 'POST' | 'DELETE', target: string, body?: string, client?: Client): Promise<string>;
}

async function withImages(use: (world: World) => Promise<void>): Promise<void> {
  const clock = new TestClock();
  const host = new SimulatedContainerHost({ clock, random: new SeededRandom(1) });
  const images = new SimulatedContainerImages(host);
  const containers = new SimulatedContainers(host);
  await containers.probe(signal);
  const server = await startTestServer({
    clock,
    extend: (api, client) => {
      for (const route of imageRoutes({ client, nodeName: 'node-1', images, containers }))
        api.addRoute(route);
    },
  });
  await server.client.create(resources.namespaces, { metadata: { name: 'kube-system' } });
  try {
    await use({
      server,
      host,
      containers,
      async ask(method, target, body, client = server.client) {
        const answer = await client.send({ method, target, ...(body !== undefined && { body }) });
        return `${answer.status} ${await answer.text()}`;
      },
    });
  } finally {
    containers.dispose();
    images.dispose();
    await server.close();
  }
}

const content = {
  id: `sha256:${'a'.repeat(64)}`,
  user: '',
  entryPoint: ['/guest'],
  arguments: [],
  bytes: 5,
  createdAt: 0,
};

describe('the images of a node', () => {
  it('are loaded, listed with those that use them, and removed once nobody does', () =>
    withImages(async ({ ask, host, containers }) => {
      const image = host.addImage('docker.io/library/web:1', content);
      assert.match(await ask('GET', place), /^200 .*"docker\.io\/library\/web:1".*"usedBy":\[\]/);
      await containers.startSandbox(
        {
          id: 'u_0',
          title: 'default/web',
          labels: {},
          hostname: 'web',
          network: { kind: 'host' },
          processes: 'container',
          sharedMemory: 'sandbox',
        },
        signal,
      );
      const run = { id: 'u_c_0', sandboxId: 'u_0', title: 'default/web/c', labels: {}, imageId: image.id };
      const order = { ...run, environment: {}, mounts: [], resources: {}, security: {} };
      await containers.startContainer({ ...order, hasInput: false, hasTerminal: false }, signal);
      assert.match(await ask('GET', place), /"usedBy":\["default\/web"\]/);
      assert.match(
        await ask('DELETE', `${place}/web:1`),
        /^409 .*image web:1 is used by default\/web; delete what uses it first/,
      );
      await containers.endSandbox('u_0', signal);
      await containers.removeSandbox('u_0', signal);
      assert.match(await ask('DELETE', `${place}/web:1`), /^204/);
      assert.equal(await ask('GET', place), '200 {"items":[]}');
    }));

  it('are refused in words: without a size, without room, for what is not there, and on other nodes', () =>
    withImages(async ({ ask }) => {
      assert.match(await ask('POST', place, 'x'), /^400 .*add size=BYTES to the query/);
      assert.match(
        await ask('POST', `${place}?size=${2 ** 39}`, 'x'),
        /^413 .*needs \d+ bytes while it is unpacked, and \d+ are free; remove images with: sheaf images rm NAME/,
      );
      assert.match(await ask('DELETE', `${place}/web:1`), /^404 .*there is no image web:1 on this node/);
      assert.match(await ask('DELETE', `${place}/A:B:C`), /^400 .*is no name of an image/);
      assert.match(
        await ask('GET', '/v1/sheaf/nodes/other/images'),
        /^404 .*this Sheaf runs the node node-1/,
      );
    }));

  it('are for those who may', () =>
    withImages(async ({ ask, server }) => {
      const nobody = server.clientAs({ name: 'nobody', groups: ['system:authenticated'] });
      assert.match(
        await ask('GET', place, undefined, nobody),
        /^403 .*cannot list resource \\"nodes\/images\\"/,
      );
    }));
});

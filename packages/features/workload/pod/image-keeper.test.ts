import assert from 'node:assert/strict';
import { it } from 'node:test';
import { SeededRandom, TestClock } from '@sheaf/testkit';
import { SimulatedContainerHost, SimulatedContainerImages } from '@sheaf/testkit/containers/index';
import { ImageKeeper } from './image-keeper.ts';

const digest = `sha256:${'b'.repeat(64)}`;
const content = {
  ...{
    id: `sha256:${'9'.repeat(64)}`,
    bytes: 2,
    user: '',
    entryPoint: ['/guest'],
    arguments: [],
    createdAt: 0,
  },
};

/** Whether a container gets its image at once, or a registry is asked first. */
async function answerFor(image: string, imagePullPolicy?: string): Promise<string> {
  const clock = new TestClock();
  const host = new SimulatedContainerHost({ clock, random: new SeededRandom(1) });
  const images = new SimulatedContainerImages(host);
  host.addImage('registry.example/bundled:latest', content);
  host.addImage('registry.example/other:latest', content);
  host.images.set(content.id, {
    ...content,
    tags: [...(host.images.get(content.id)?.tags ?? [])],
    digests: [`registry.example/bundled@${digest}`],
  });
  const keeper = new ImageKeeper({
    images,
    clock,
    isBundled: (reference) => reference === 'registry.example/bundled:latest',
    credentialsOf: () => Promise.resolve([]),
    tell: () => undefined,
  });
  try {
    const container = { name: 'a', image, ...(imagePullPolicy && { imagePullPolicy }) };
    const pod = { metadata: { uid: 'u' }, spec: { containers: [] } };
    const answer = await keeper.find({ pod, container, runId: 'u_a_0' }, new AbortController().signal);
    return Object.keys(answer)[0] ?? '';
  } finally {
    keeper.dispose();
    images.dispose();
  }
}

it('what a bundle has brought is asked of no registry, whatever a pod says; a digest says more than the tag beside it', async () => {
  const answers = [
    await answerFor('registry.example/bundled', 'Always'),
    await answerFor('registry.example/bundled:latest'),
    await answerFor('registry.example/other:latest', 'Always'),
    await answerFor('registry.example/other:latest', 'IfNotPresent'),
    await answerFor(`registry.example/bundled:1.2@${digest}`),
    await answerFor(`registry.example/bundled:1.2@${digest}`, 'Always'),
  ];
  assert.deepEqual(answers, ['image', 'image', 'pulling', 'image', 'image', 'pulling']);
});

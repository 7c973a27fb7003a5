import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type ContainerObservation, helmImage, type SandboxObservation } from '@sheaf/ports';
import { HostView, lookFor } from './host-view.ts';
import { podLabels } from './run-ids.ts';

const { signal } = new AbortController();

it('a pod of programs is looked for among them, and everywhere where it is not found there', async () => {
  const looks: string[] = [];
  const viewOf = (name: string, podUids: readonly string[]): HostView =>
    new HostView({
      listSandboxes() {
        looks.push(name);
        return Promise.resolve(podUids.map(sandboxOf));
      },
      listContainers: () => Promise.resolve<readonly ContainerObservation[]>([]),
    });
  const programView = viewOf('programs', ['a']);
  const views = { view: viewOf('everything', ['a', 'b', 'c']), programView };
  const found = async (uid: string, image: string): Promise<string> => {
    looks.length = 0;
    const pod = { metadata: { uid }, spec: { containers: [{ name: 'c', image }] } };
    const { sandboxes } = await lookFor(views, pod, signal);
    assert.ok(sandboxes.some(({ id }) => id.startsWith(uid)));
    return looks.join(', ');
  };
  assert.equal(await found('a', helmImage), 'programs');
  assert.equal(await found('b', helmImage), 'programs, everything', 'its image was another one before');
  assert.equal(await found('c', 'registry.example/web:1'), 'everything');
});

function sandboxOf(podUid: string): SandboxObservation {
  return {
    id: `${podUid}_0`,
    title: '',
    labels: { [podLabels.uid]: podUid },
    state: 'ready',
    addresses: [],
    createdAt: 0,
  };
}

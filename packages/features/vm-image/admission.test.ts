import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { storageDriver, type VirtualMachineImage } from '@sheaf/api/virtualization/index';
import { resources } from '@sheaf/client';
import { cloneAnnotation, displayNameLabel, mirrorsAnnotation } from './image-names.ts';
import { type ImageWorld, rawDisk, refusal, saidBy, withImages } from './image-world.fixture.ts';

const url = 'http://source.test/disk.img';
const disk = rawDisk(1);
const { virtualMachineImages, storageClasses } = resources;

type Spec = Partial<VirtualMachineImage['spec']>;

async function made(world: ImageWorld, spec: Spec, annotations?: Record<string, string>): Promise<string> {
  return refusal(world.create('one', { url, ...spec }, annotations));
}

async function imported({ create, until, sources }: ImageWorld, name: string): Promise<VirtualMachineImage> {
  sources.offer(url, [{ content: disk }]);
  await create(name, { url });
  return until(name, (image) => saidBy(image, 'Imported') === 'True/Imported');
}

function storageClass(name: string, parameters: Record<string, string>, isDefault = false) {
  const annotations = isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {};
  return { metadata: { name, annotations }, provisioner: storageDriver, parameters };
}

describe('new images', () => {
  it('are refused with what to do', () =>
    withImages(async (world) => {
      const cases: readonly (readonly [Spec, RegExp, Record<string, string>?])[] = [
        [{ displayName: '' }, /^422: displayName is required\. Give the image a name/],
        [
          { displayName: 'no spaces' },
          /^422: displayName is not a valid Kubernetes label value: .* Use at most 63/,
        ],
        [{ url: '' }, /^422: url is required\. Give the http or https address/],
        [{ url: 'ftp://x/y' }, /^422: url is invalid: ftp:\/\/ is not downloaded from\. Give an address/],
        [{ url: 'nothing' }, /^422: url is invalid: it is no URL/],
        [{}, /^422: the mirror "gopher:\/\/x" is invalid/, { [mirrorsAnnotation]: 'http://a/b, gopher://x' }],
        [{ sourceType: 'upload' }, /^422: url should be empty when image source type is "upload"/],
        [{ checksum: 'abc' }, /^422: checksum is no SHA-512: .*sha512sum/],
        [{ backend: 'cdi' }, /^422: the backend cdi is not available: .* Leave spec\.backend out/],
        [{ sourceType: 'restore' }, /^422: an image cannot come from a backup: .* Use download or upload/],
        [{ targetStorageClassName: 'none' }, /^422: storage class none not found/],
        [
          { targetStorageClassName: 'a' },
          /^422: storageClassName should keep/,
          { 'harvesterhci.io/storageClassName': 'b' },
        ],
        [{ url: '', sourceType: 'export-from-volume' }, /^422: pvcNamespace is required/],
        [{ url: '', sourceType: 'export-from-volume', pvcNamespace: 'default' }, /^422: pvcName is required/],
        [
          { url: '', sourceType: 'export-from-volume', pvcNamespace: 'default', pvcName: 'x' },
          /^422: there is no pvc default\/x/,
        ],
        [
          { url: '', sourceType: 'clone' },
          /^422: securityParameters is required .* annotation sheaf\.dev\/clone-from/,
        ],
        [
          { url: '', sourceType: 'clone' },
          /^422: the image to be copied is not named/,
          { [cloneAnnotation]: 'x' },
        ],
        [
          { url: '', sourceType: 'clone' },
          /^422: source image default\/x not found/,
          { [cloneAnnotation]: 'default/x' },
        ],
      ];
      for (const [spec, words, annotations] of cases)
        assert.match(await made(world, spec, annotations), words);
      assert.match(await made(world, { retry: 11 }), /^422: .*spec\.retry/);
      assert.equal((await world.client.list(virtualMachineImages)).items.length, 0);
    }));

  it('have names that others in their namespace do not have', () =>
    withImages(async (world) => {
      await world.client.create(resources.namespaces, { metadata: { name: 'other' } });
      const first = await world.create('one', { url, displayName: 'debian' });
      assert.equal(first.metadata.labels?.[displayNameLabel], 'debian');
      assert.equal(
        await refusal(world.create('two', { url, displayName: 'debian' })),
        '409: A resource with the same name exists: the image default/one has the displayName debian. Choose another displayName, or delete that image first.',
      );
      const metadata = { namespace: 'other', name: 'one' };
      const spec = { displayName: 'debian', sourceType: 'download', url } as const;
      assert.equal(await refusal(world.client.create(virtualMachineImages, { metadata, spec })), 'allowed');
    }));

  it('take the parameters of their class over', () =>
    withImages(async ({ client, create }) => {
      await client.create(
        storageClasses,
        storageClass('usual', { numberOfReplicas: '2', fsType: 'ext4' }, true),
      );
      await client.create(storageClasses, storageClass('ssd', { diskSelector: 'ssd' }));
      const usual = await create('one', { url });
      const chosen = await create('two', { url }, { 'harvesterhci.io/storageClassName': 'ssd' });
      const rest = { migratable: 'true', staleReplicaTimeout: '30' };
      assert.deepEqual(
        [usual, chosen].map(({ metadata, spec }) => [
          metadata.annotations?.['harvesterhci.io/storageClassName'],
          spec.storageClassParameters,
        ]),
        [
          ['usual', { ...rest, numberOfReplicas: '2' }],
          ['ssd', { ...rest, numberOfReplicas: '3', diskSelector: 'ssd' }],
        ],
      );
    }));

  it('are not made on the class of another', () =>
    withImages(async (world) => {
      const { status } = await imported(world, 'base');
      const annotations = { 'harvesterhci.io/storageClassName': status?.storageClassName ?? '' };
      assert.match(await made(world, {}, annotations), /^422: storage class lh-.* is the class of an image/);
    }));

  it('are made only from what their maker may see', () =>
    withImages(async ({ client, server, create, until, sources }) => {
      sources.offer(url, [{ content: disk }]);
      await create('base', { url });
      await until('base', (image) => saidBy(image, 'Imported') === 'True/Imported');
      await client.create(resources.clusterRoles, {
        metadata: { name: 'maker' },
        rules: [{ apiGroups: ['harvesterhci.io'], resources: ['virtualmachineimages'], verbs: ['create'] }],
      });
      await client.create(resources.clusterRoleBindings, {
        metadata: { name: 'maker' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'maker' },
        subjects: [{ kind: 'User', name: 'eve', apiGroup: 'rbac.authorization.k8s.io' }],
      });
      const eve = server.clientAs({ name: 'eve', groups: ['system:authenticated'] });
      const attempt = (spec: Spec, annotations = {}): Promise<string> =>
        refusal(
          eve.create(virtualMachineImages, {
            metadata: { namespace: 'default', name: 'mine', annotations },
            spec: { displayName: 'mine', sourceType: 'clone', ...spec },
          }),
        );
      assert.match(
        await attempt({}, { [cloneAnnotation]: 'default/base' }),
        /^422: user "eve" is not allowed to access source image default\/base/,
      );
      assert.match(
        await attempt({ sourceType: 'export-from-volume', pvcName: 'secret', pvcNamespace: 'default' }),
        /^422: user has no permission to get the pvc resource default\/secret/,
      );
    }));

  it('are never said to be encrypted', () =>
    withImages(async (world) => {
      await imported(world, 'base');
      await world.client.create(storageClasses, storageClass('plain', {}));
      await world.client.create(storageClasses, storageClass('safe', { encrypted: 'true' }));
      const attempt = (cryptoOperation: 'encrypt' | 'decrypt', className?: string): Promise<string> => {
        const securityParameters = {
          cryptoOperation,
          sourceImageName: 'base',
          sourceImageNamespace: 'default',
        };
        const annotations = className ? { 'harvesterhci.io/storageClassName': className } : {};
        return made(world, { url: '', sourceType: 'clone', securityParameters }, annotations);
      };
      assert.match(
        await attempt('decrypt'),
        /^422: can not re-decrypt, source image default\/base \(base\) is not encrypted/,
      );
      assert.match(await attempt('encrypt'), /^422: storageClassName is required when using security params/);
      assert.match(await attempt('encrypt', 'plain'), /^422: storage class plain is not for encryption/);
      assert.match(
        await attempt('encrypt', 'safe'),
        /^422: images in a directory are kept as they are: .* Encrypt the file system/,
      );
    }));
});

describe('images that are there', () => {
  it('are made from the same for ever', () =>
    withImages(async (world) => {
      const image = await imported(world, 'one');
      const change = (spec: Spec): Promise<string> =>
        refusal(world.client.update(virtualMachineImages, { ...image, spec: { ...image.spec, ...spec } }));
      const anew = 'Delete the image and make it again, or make another one.';
      assert.equal(await change({ displayName: 'two' }), `422: displayName cannot be modified. ${anew}`);
      assert.equal(await change({ url: 'http://other.test/' }), `422: url cannot be modified. ${anew}`);
      assert.equal(await change({ sourceType: 'upload' }), `422: sourceType cannot be modified. ${anew}`);
      assert.match(await change({ pvcName: 'x' }), /^422: pvcName cannot be modified/);
      assert.match(
        await change({ storageClassParameters: {} }),
        /^422: storageClassParameters cannot be modified/,
      );
      assert.match(await change({ checksum: 'short' }), /^422: checksum is no SHA-512/);
      assert.equal(await change({ description: 'new', retry: 5 }), 'allowed');
    }));

  it('can be given a class later, and keep it', () =>
    withImages(async ({ client, create }) => {
      const image = await create('one', { url });
      const withClass = (each: VirtualMachineImage, name: string): VirtualMachineImage => ({
        ...each,
        metadata: { ...each.metadata, annotations: { 'harvesterhci.io/storageClassName': name } },
      });
      const patch = (name: string): Promise<string> =>
        refusal(
          client.patch(
            virtualMachineImages,
            { namespace: 'default', name: 'one' },
            {
              type: 'merge',
              body: { metadata: { annotations: { 'harvesterhci.io/storageClassName': name } } },
            },
          ),
        );
      assert.equal(withClass(image, 'a').metadata.annotations?.['harvesterhci.io/storageClassName'], 'a');
      assert.equal(await patch('a'), 'allowed');
      assert.match(await patch('b'), /^422: storageClassName cannot be modified/);
    }));
});

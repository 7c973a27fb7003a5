import { test } from 'node:test';
import { testImageSizes } from '@sheaf/ports/image-sizes.contract';
import { testImages } from '@sheaf/ports/images.contract';
import { whySkipped, withLocalDisk } from './local-disk.fixture.ts';

if (whySkipped) test('local disk images', { skip: whySkipped });
else {
  testImages('local disk', withLocalDisk);
  testImageSizes('local disk', withLocalDisk);
}

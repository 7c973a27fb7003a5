import { stringType } from '../checker/type.ts';
import { traversal } from '../values/cost.ts';
import { type Overload, plain } from './overload.ts';

/** What mutating policies have to write JSON patches. */
export const jsonPatchLibrary: Readonly<Record<string, readonly Overload[]>> = {
  'jsonpatch.escapeKey': [
    plain({
      params: [stringType],
      result: stringType,
      call: (key) => key.replaceAll('~', '~0').replaceAll('/', '~1'),
      cost: (key) => traversal(key),
    }),
  ],
};

import { metaDefinitions } from './definition-names.ts';
import { builtinMediaTypes } from './media-types.ts';
import type { PathDescription } from './operation.ts';
import { groupVersionRoot, groupVersionTag, groupVersionWord } from './operation-names.ts';

/** The list of a group version's resources. */
export function rootPath(group: string, version: string): PathDescription {
  return {
    path: `${groupVersionRoot(group, version)}/`,
    parameters: [],
    operations: [
      {
        method: 'get',
        id: `get${groupVersionWord(group, version)}APIResources`,
        description: 'get available resources',
        tag: groupVersionTag(group, version),
        parameters: [],
        answers: [{ code: 200, schema: metaDefinitions.resourceList }],
        produces: builtinMediaTypes.object,
      },
    ],
  };
}

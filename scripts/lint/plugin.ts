import { ambientInputRule } from './rules/ambient-input.ts';
import { layersRule } from './rules/layers.ts';
import { hashPrivateRule, moduleMockRule, topLevelFunctionRule } from './rules/style.ts';

/** The rules of the house, as a plugin of the linter. */
// oxlint-disable-next-line import/no-default-export -- the linter loads a plugin by its default export
export default {
  meta: { name: 'house' },
  rules: {
    layers: layersRule,
    'ambient-input': ambientInputRule,
    'top-level-function': topLevelFunctionRule,
    'hash-private': hashPrivateRule,
    'no-module-mock': moduleMockRule,
  },
};

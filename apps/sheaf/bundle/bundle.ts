import { runWord } from '../vm/vm.ts';
import { create } from './create.ts';
import { list, load, remove } from './loaded-bundles.ts';
import { show } from './show.ts';

/** `sheaf bundle WORD …` */
export function bundle(args: readonly string[]): Promise<number> {
  return runWord('bundle', { create, show, load, ls: list, rm: remove }, args);
}

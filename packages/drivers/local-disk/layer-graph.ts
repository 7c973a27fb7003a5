/** Which layer lies on which: the name of each file, and that of its backing file. */
export type LayerGraph = ReadonlyMap<string, string | undefined>;

/** The layers below and including `top`, from the top. Ends where a file is missing. */
export function chainOf(graph: LayerGraph, top: string): string[] {
  const chain: string[] = [];
  for (
    let name: string | undefined = top;
    name !== undefined && graph.has(name) && !chain.includes(name);
    name = graph.get(name)
  )
    chain.push(name);
  return chain;
}

/** Everything that `roots` need. */
export function reachableFrom(graph: LayerGraph, roots: Iterable<string>): Set<string> {
  const reached = new Set<string>();
  for (const root of roots) {
    for (
      let name: string | undefined = root;
      name !== undefined && graph.has(name) && !reached.has(name);
      name = graph.get(name)
    )
      reached.add(name);
  }
  return reached;
}

export function childrenOf(graph: LayerGraph): Map<string, string[]> {
  const children = new Map<string, string[]>();
  for (const [name, backing] of graph) {
    if (backing === undefined) continue;
    children.set(backing, [...(children.get(backing) ?? []), name]);
  }
  return children;
}

export interface LayerPair {
  readonly lower: string;
  readonly upper: string;
}

/** Layers that nothing needs for themselves, each with the only one that lies on it: the two can become one. */
export function mergeablePairs(graph: LayerGraph, roots: ReadonlySet<string>): LayerPair[] {
  const live = reachableFrom(graph, roots);
  const children = childrenOf(graph);
  return [...live].flatMap((lower) => {
    const [upper, ...others] = children.get(lower) ?? [];
    return upper !== undefined && others.length === 0 && !roots.has(lower) ? [{ lower, upper }] : [];
  });
}

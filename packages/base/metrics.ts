/**
 * Counters, gauges and histograms in the text form of Prometheus. Label values are looked up in nested maps, so that counting
 * makes no strings; whoever counts often keeps the cell that `of` returns. Label values must come from a bounded set.
 */
export class MetricsRegistry {
  readonly #families = new Map<string, Family<Written>>();
  readonly #collectors: (() => void)[] = [];

  /** @throws Error when the name is taken */
  counter(options: MetricOptions): Family<Value> {
    return this.#add('counter', options, () => new Value());
  }

  gauge(options: MetricOptions): Family<Value> {
    return this.#add('gauge', options, () => new Value());
  }

  /** `buckets`: upper limits, ascending. */
  histogram(options: MetricOptions & { readonly buckets: readonly number[] }): Family<Distribution> {
    return this.#add('histogram', options, () => new Distribution(options.buckets));
  }

  /** Called before each text is made, to set what is cheaper looked at than counted. */
  onCollect(collect: () => void): void {
    this.#collectors.push(collect);
  }

  text(): string {
    for (const collect of this.#collectors) collect();
    const out: string[] = [];
    for (const family of this.#families.values()) family.write(out);
    return out.join('');
  }

  #add<Cell extends Written>(type: string, options: MetricOptions, make: () => Cell): Family<Cell> {
    if (this.#families.has(options.name)) throw new Error(`there is a metric ${options.name} already`);
    const family = new Family(type, options, make);
    this.#families.set(options.name, family);
    return family;
  }
}

export interface MetricOptions {
  /** With its unit, e.g. `apiserver_request_duration_seconds`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

interface Node<Cell> {
  readonly children: Map<string, Node<Cell>>;
  cell: Cell | undefined;
}

/** Something for each combination of texts, found without joining them. */
export class TextTree<Cell> {
  readonly #make: (texts: readonly string[]) => Cell;
  #root: Node<Cell> = { children: new Map(), cell: undefined };

  constructor(make: (texts: readonly string[]) => Cell) {
    this.#make = make;
  }

  of(texts: readonly string[]): Cell {
    let node = this.#root;
    for (const text of texts) {
      let child = node.children.get(text);
      if (!child) {
        child = { children: new Map(), cell: undefined };
        node.children.set(text, child);
      }
      node = child;
    }
    node.cell ??= this.#make(texts);
    return node.cell;
  }

  clear(): void {
    this.#root = { children: new Map(), cell: undefined };
  }

  visit(visitor: (cell: Cell, texts: readonly string[]) => void): void {
    visitNode(this.#root, [], visitor);
  }
}

function visitNode<Cell>(
  node: Node<Cell>,
  texts: readonly string[],
  visitor: (cell: Cell, texts: readonly string[]) => void,
): void {
  if (node.cell !== undefined) visitor(node.cell, texts);
  for (const [text, child] of node.children) visitNode(child, [...texts, text], visitor);
}

interface Written {
  write(out: string[], name: string, labels: string): void;
}

/** All cells of one metric, one for each combination of label values. */
export class Family<Cell extends Written> {
  readonly #type: string;
  readonly #options: MetricOptions;
  readonly #cells: TextTree<Cell>;

  constructor(type: string, options: MetricOptions, make: () => Cell) {
    this.#type = type;
    this.#options = options;
    this.#cells = new TextTree(make);
  }

  /** The cell of these label values, in the order of the labels. */
  of(...values: readonly string[]): Cell {
    return this.#cells.of(values);
  }

  /** Forgets all cells: for what is set anew at each collection. */
  clear(): void {
    this.#cells.clear();
  }

  write(out: string[]): void {
    const { name, help, labels = [] } = this.#options;
    const line = help.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
    out.push(`# HELP ${name} ${line}\n# TYPE ${name} ${this.#type}\n`);
    this.#cells.visit((cell, values) => {
      const pairs = values.map((value, index) => `${labels[index] ?? ''}="${escaped(value)}"`);
      cell.write(out, name, pairs.join(','));
    });
  }
}

/** A counter, which only `add` changes, or a gauge. */
export class Value {
  #value = 0;

  add(amount = 1): void {
    this.#value += amount;
  }

  set(value: number): void {
    this.#value = value;
  }

  get value(): number {
    return this.#value;
  }

  write(out: string[], name: string, labels: string): void {
    out.push(labels === '' ? `${name} ${this.#value}\n` : `${name}{${labels}} ${this.#value}\n`);
  }
}

export class Distribution {
  readonly #limits: readonly number[];
  readonly #counts: Float64Array;
  #sum = 0;
  #count = 0;

  constructor(limits: readonly number[]) {
    this.#limits = limits;
    this.#counts = new Float64Array(limits.length);
  }

  observe(value: number): void {
    this.#sum += value;
    this.#count++;
    // Most values are in the first buckets.
    const index = this.#limits.findIndex((limit) => value <= limit);
    if (index >= 0) this.#counts[index] = (this.#counts[index] ?? 0) + 1;
  }

  write(out: string[], name: string, labels: string): void {
    const prefix = labels === '' ? '' : `${labels},`;
    let total = 0;
    for (const [index, limit] of this.#limits.entries()) {
      total += this.#counts[index] ?? 0;
      out.push(`${name}_bucket{${prefix}le="${limit}"} ${total}\n`);
    }
    const own = labels === '' ? '' : `{${labels}}`;
    out.push(
      `${name}_bucket{${prefix}le="+Inf"} ${this.#count}\n`,
      `${name}_sum${own} ${this.#sum}\n`,
      `${name}_count${own} ${this.#count}\n`,
    );
  }
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

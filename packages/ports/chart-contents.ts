/** A chart that is to be installed, with what its templates are filled with. */
export interface ChartNeed {
  readonly name: string;
  readonly targetNamespace: string;
  readonly repo: string;
  readonly chart: string;
  readonly version: string;
  /** The chart itself, in base64, where it is part of the object; else empty. */
  readonly content: string;
  /** Texts in YAML; later ones override earlier ones. */
  readonly values: readonly string[];
  /** Pairs of a flag and its value: `--set a=b`. */
  readonly set: readonly string[];
}

/** What is not on this host, and cannot be fetched now. */
export interface MissingContent {
  /** The chart itself, for people. */
  readonly chart: string | undefined;
  /** Images that its pods would ask for. They are known only when the chart is there. */
  readonly images: readonly string[];
  /** Who was asked in vain, and what came of it. */
  readonly unreachable: readonly string[];
}

/** Whether an operation on a chart can get what it needs, asked before it begins. */
export interface ChartContents {
  /**
   * Looks on this host first; nobody outside is asked when everything is here. `undefined`: nothing is missing, or what is missing can
   * be asked for, or it cannot be told: then the operation tells.
   */
  missing(need: ChartNeed, signal: AbortSignal): Promise<MissingContent | undefined>;
}

import type { Operation } from './operations.ts';

/** Eight cells: all that is ever written. */
type Cells = readonly number[];

interface Volume {
  readonly bytes: number;
  readonly cells: Cells;
}

const blank: Cells = new Array<number>(8).fill(0);

/** What must be there after the operations that were acknowledged. */
export class Expectation {
  readonly #downloaded: Cells;
  #memories = new Map<string, number>();
  #volumes = new Map<string, Volume>();
  #snapshots = new Map<string, Cells>();
  #images = new Map<string, { readonly cells: Cells; readonly isRaw: boolean }>();

  constructor(downloaded: Cells) {
    this.#downloaded = downloaded;
  }

  ids(): { volumes: string[]; snapshots: string[]; images: string[]; memories: string[] } {
    return {
      volumes: [...this.#volumes].map(([id, { bytes }]) => `${id} ${bytes}`).sort(),
      snapshots: [...this.#snapshots.keys()].sort(),
      images: [...this.#images.keys()].sort(),
      memories: [...this.#memories].map(([id, bytes]) => `${id} ${bytes}`).sort(),
    };
  }

  /** The same after one more operation. */
  with(operation: Operation): Expectation {
    const after = new Expectation(this.#downloaded);
    after.#volumes = new Map(this.#volumes);
    after.#snapshots = new Map(this.#snapshots);
    after.#images = new Map(this.#images);
    after.#memories = new Map(this.#memories);
    after.apply(operation);
    return after;
  }

  volumeCells(id: string): Cells | undefined {
    return this.#volumes.get(id)?.cells;
  }

  imageCells(id: string): Cells | undefined {
    return this.#images.get(id)?.cells;
  }

  rawImages(): string[] {
    return [...this.#images].flatMap(([id, { isRaw }]) => (isRaw ? [id] : []));
  }

  /** Its first cell now has another value. */
  written(id: string, value: number): void {
    const volume = this.#volumes.get(id);
    if (volume) this.#volumes.set(id, { ...volume, cells: volume.cells.with(0, value) });
  }

  apply(operation: Operation): void {
    switch (operation.kind) {
      case 'create':
        return this.#create(operation.order);
      case 'expand':
        return this.#expand(operation);
      case 'remove':
        return remove(this.#volumes, operation.id);
      case 'snapshot':
        return this.#snapshot(operation);
      case 'remove-snapshot':
        return remove(this.#snapshots, operation.id);
      case 'request-image':
        return this.#image(operation.order);
      case 'upload-image':
        return this.#upload(operation);
      case 'remove-image':
        return remove(this.#images, operation.id);
      case 'memory':
        return this.#memory(operation);
    }
  }

  #memory({ id, bytes }: Extract<Operation, { kind: 'memory' }>): void {
    if (bytes === undefined) this.#memories.delete(id);
    else this.#memories.set(id, bytes);
  }

  #expand({ id, bytes }: Extract<Operation, { kind: 'expand' }>): void {
    this.#volumes.set(id, { bytes, cells: this.volumeCells(id) ?? blank });
  }

  #snapshot({ id, volumeId }: Extract<Operation, { kind: 'snapshot' }>): void {
    this.#snapshots.set(id, this.volumeCells(volumeId) ?? blank);
  }

  #upload({ order, cells }: Extract<Operation, { kind: 'upload-image' }>): void {
    this.#images.set(order.id, { cells, isRaw: true });
  }

  #create({ id, bytes, content }: Extract<Operation, { kind: 'create' }>['order']): void {
    this.#volumes.set(id, { bytes, cells: this.#cellsOf(content) });
  }

  #cellsOf(content: Extract<Operation, { kind: 'create' }>['order']['content']): Cells {
    switch (content.kind) {
      case 'blank':
        return blank;
      case 'image':
        return padded(this.imageCells(content.imageId) ?? blank);
      case 'volume':
        return this.volumeCells(content.volumeId) ?? blank;
      case 'snapshot':
        return this.#snapshots.get(content.snapshotId) ?? blank;
    }
  }

  #image({ id, origin }: Extract<Operation, { kind: 'request-image' }>['order']): void {
    if (origin.kind === 'download') this.#images.set(id, { cells: this.#downloaded, isRaw: true });
    const original = origin.kind === 'image' && this.#images.get(origin.imageId);
    if (original) this.#images.set(id, original);
    const cells = origin.kind === 'volume' && this.volumeCells(origin.volumeId);
    if (cells) this.#images.set(id, { cells, isRaw: false });
  }
}

function padded(cells: Cells): Cells {
  return blank.map((zero, index) => cells[index] ?? zero);
}

function remove(from: Map<string, unknown>, id: string): void {
  from.delete(id);
}

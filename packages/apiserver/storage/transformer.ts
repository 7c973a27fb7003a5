/** What happens to an object's bytes between memory and disk: nothing, or encryption. */
export interface Transformer {
  /** `key` binds the result to its place, so that a record moved elsewhere does not open. */
  seal(plain: Uint8Array, key: string): Uint8Array;
  /** @throws StoreFault when the bytes were not sealed for this key or with a known secret. */
  open(sealed: Uint8Array, key: string): Uint8Array;
}

export const plainTransformer: Transformer = {
  seal(plain) {
    return plain;
  },
  open(sealed) {
    return sealed;
  },
};

import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import type { Random } from '@sheaf/base';

/** The operating system's randomness. */
export const systemRandom: Random = {
  bytes(length) {
    return randomBytes(length);
  },
  uuid() {
    return randomUUID();
  },
  integer(below) {
    return randomInt(below);
  },
};
